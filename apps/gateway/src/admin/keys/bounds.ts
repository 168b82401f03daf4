import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Labels } from '@llm0/core/limits/budgets';
import type { Db } from '@llm0/drizzle/client';
import { keyRows, listBoundKeys, type StoredApiKey } from '@llm0/drizzle/queries/access/api-keys';
import type { StoredProject } from '@llm0/drizzle/queries/access/projects';
import { outerName } from '@llm0/drizzle/queries/inner-names';

type Fields = Readonly<Record<string, unknown>>;
type Rule = (value: unknown, bound: unknown) => boolean;

const atMost: Rule = (value, bound) => value != null && Number(value) <= Number(bound);
const same: Rule = (value, bound) => Bun.deepEquals(value, bound);
const within: Rule = (value, bound) => Array.isArray(value) && value.every((one) => (bound as unknown[]).includes(one));
const withAll: Rule = (value, bound) =>
  Array.isArray(value) && (bound as unknown[]).every((rule) => value.some((one) => Bun.deepEquals(one, rule)));
const withLabels: Rule = (value, bound) =>
  Object.entries(bound as object).every(([name, text]) => (value as Fields | null)?.[name] === text);

/** Fields of a key by inner names: true for a value that permits no more than an admin does. */
const RULES: Readonly<Record<string, Rule>> = {
  rateLimitPerMinute: atMost,
  rateLimitBurst: atMost,
  tokensPerMinute: atMost,
  maxConcurrency: atMost,
  expiresAtMs: atMost,
  budgetNanoUsd: atMost,
  dailyBudgetNanoUsd: atMost,
  weeklyBudgetNanoUsd: atMost,
  maxRunBudgetNanoUsd: atMost,
  defaultRunBudgetNanoUsd: atMost,
  // What a month may cost is little in total; the other way round it is not.
  budgetPeriod: (value, bound) => bound === 'month' || value === bound,
  allowedModels: within,
  allowedProviders: within,
  guardrailRules: withAll,
  labels: withLabels,
  passthrough: same,
  allowedTools: same,
  codeMode: same,
  failover: same,
  dropParams: same,
  isActive: (value) => value === false,
};

/** What an admin's change leaves to the user of the key; null = everything. */
export function boundsAfter(key: StoredApiKey, changed: Fields): StoredApiKey['bounds'] {
  const bounds: Record<string, unknown> = { ...key.bounds };
  const values: Fields = { ...key };
  for (const name of Object.keys(changed)) {
    if (!(name in RULES) || changed[name] === undefined) continue;
    const isOpen = values[name] == null || (name === 'isActive' && values[name] === true);
    if (isOpen) delete bounds[name];
    else bounds[name] = values[name];
  }
  // Without a size of its own, the bucket is as large as the rate.
  if (key.rateLimitBurst === null) {
    if (bounds.rateLimitPerMinute === undefined) delete bounds.rateLimitBurst;
    else bounds.rateLimitBurst = bounds.rateLimitPerMinute;
  }
  if (bounds.budgetNanoUsd === undefined) delete bounds.budgetPeriod;
  else bounds.budgetPeriod = key.budgetPeriod;
  return Object.keys(bounds).length === 0 ? null : bounds;
}

/** An approved key is bound by all it was approved with. */
export const boundsOfApproved = (key: StoredApiKey) =>
  boundsAfter({ ...key, isActive: true }, { ...key, bounds: undefined });

/** Throws `permission_denied` for the first field that permits more. */
export function refuseLooser(bounds: StoredApiKey['bounds'], changed: Fields): void {
  for (const [name, bound] of Object.entries(bounds ?? {})) {
    const value = changed[name];
    if (value === undefined || RULES[name]?.(value, bound) !== false) continue;
    const param = outerName(name);
    const message =
      name === 'isActive'
        ? 'An admin has suspended this key. Ask an admin to activate it.'
        : `An admin has set ${param} of your key. You may make it stricter only.`;
    throw new GatewayError('permission_denied', message, { param });
  }
}

/** Projects' labels lead to budgets and cost centers: a user's key adds others. Throws `permission_denied`. */
export function refuseProjectLabels({ labels: fixed }: Pick<StoredProject, 'labels'>, { labels }: Fields): void {
  const set = Object.entries((labels ?? {}) as Labels);
  const name = set.find(([label, value]) => (fixed?.[label] ?? value) !== value)?.[0];
  if (name === undefined) return;
  const message = `The project sets the label "${name}". Your key may add labels, not replace the project's.`;
  throw new GatewayError('permission_denied', message, { param: 'labels' });
}

/**
 * A new key of a user isn't a way round: what admins set for the user's other keys in the project holds for it, too.
 * Throws `permission_denied` while one is suspended.
 */
export async function settingsWithin(
  tx: Db,
  at: { readonly projectId: string; readonly userId: string },
  asked: Fields,
): Promise<{ readonly settings: Fields; readonly bounds: StoredApiKey['bounds'] }> {
  const settings: Record<string, unknown> = { ...asked };
  const all: Record<string, unknown> = {};
  for (const { name, bounds } of await listBoundKeys(tx, at)) {
    if (bounds?.isActive === false) {
      const message = `An admin has suspended your key "${name}" in this project. Ask an admin before you make another.`;
      throw new GatewayError('permission_denied', message);
    }
    // An admin decides about a key that waits.
    if (asked.requestedAtMs != null) continue;
    for (const [field, bound] of Object.entries(bounds ?? {})) {
      if (RULES[field]?.(settings[field] ?? null, bound) === false) settings[field] = bound;
      if (all[field] === undefined || RULES[field]?.(bound, all[field]) === true) all[field] = bound;
    }
  }
  return { settings, bounds: Object.keys(all).length === 0 ? null : all };
}

/** Who revokes a suspended key and makes another would be free of the suspension. */
export function refuseSuspended(key: StoredApiKey | null): StoredApiKey | null {
  refuseLooser(key?.bounds?.isActive === false ? { isActive: false } : null, { isActive: true });
  return key;
}

/** After an admin's change of somebody's key. */
export async function writeBounds(tx: Db, key: StoredApiKey, bounds: StoredApiKey['bounds']): Promise<StoredApiKey> {
  if (key.userId === null || Bun.deepEquals(key.bounds, bounds)) return key;
  return (await keyRows.update(tx, { id: key.id }, { bounds })) ?? key;
}
