import type { EventKind } from './schema';

type Json = Readonly<Record<string, unknown>>;

export interface ChangeToDescribe {
  readonly action: string;
  readonly resource: string;
  readonly resourceId: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

/** Fields of a resource that affect charts, with their labels. */
const LIMITS: Readonly<Record<string, string>> = {
  monthly_cap_usd: 'monthly cap',
  budget_usd: 'budget',
  requests_per_minute: 'requests a minute',
  rate_limit_per_minute: 'requests a minute',
  tokens_per_minute: 'tokens a minute',
  daily_spend_limit_usd: 'daily limit',
  monthly_spend_limit_usd: 'monthly limit',
  per_request_max_usd: 'limit a request',
  requests_per_hour: 'requests an hour',
  requests_per_day: 'requests a day',
  cache_enabled: 'cache',
  semantic_cache_enabled: 'semantic cache',
  on_store_failure: 'behaviour without store',
  is_active: 'active',
  expires_at: 'expiry',
};

const KINDS: Readonly<Record<string, { readonly kind: EventKind; readonly name: string }>> = {
  key: { kind: 'key', name: 'key' },
  project: { kind: 'limit', name: 'project' },
  customer_limits: { kind: 'limit', name: 'limits of customer' },
  alias: { kind: 'routing', name: 'alias' },
  chain: { kind: 'routing', name: 'chain' },
  provider: { kind: 'routing', name: 'provider' },
  backend: { kind: 'routing', name: 'backend' },
  provider_key: { kind: 'routing', name: 'provider key' },
};
export const DESCRIBED = Object.keys(KINDS);

const VERBS: Readonly<Record<string, string>> = {
  ...{ create: 'created', update: 'changed', delete: 'removed', rotate: 'rotated' },
};

/** An audited change in one line; null for changes without effect on charts (a name, a note). */
export function describeChange(change: ChangeToDescribe): { readonly kind: EventKind; readonly text: string } | null {
  const known = KINDS[change.resource];
  if (known === undefined) return null;
  const [before, after] = [objectOf(change.before), objectOf(change.after)];
  const name = nameOf({ ...before, ...after }, change.resourceId);
  const changed = change.action === 'update' ? changesOf(before, after) : [];
  const isRouting = known.kind === 'routing';
  if (change.action === 'update' && changed.length === 0 && !isRouting) return null;
  const text = `${capital(known.name)} ${name} ${VERBS[change.action] ?? change.action}`;
  // A new resource shows its limits.
  const told = change.action === 'create' ? changesOf({}, numbersOf(after)) : changed;
  return { kind: known.kind, text: told.length === 0 ? text : `${text}: ${told.join(', ')}` };
}

function changesOf(before: Json, after: Json): string[] {
  return Object.entries(LIMITS).flatMap(([field, label]) => {
    const [was, is] = [before[field] ?? null, after[field] ?? null];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    if (was === null && typeof is === 'boolean') return [];
    return [was === null ? `${label} ${say(field, is)}` : `${label} ${say(field, was)} → ${say(field, is)}`];
  });
}

function say(field: string, value: unknown): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return field.endsWith('_usd') ? `$${String(value)}` : typeof value === 'object' ? 'others' : String(value);
}

function nameOf(thing: Json, id: string | null): string {
  const name = thing.name ?? thing.alias ?? thing.customer_id ?? id ?? '';
  return `“${String(name).slice(0, 80)}”`;
}

const numbersOf = (thing: Json): Json =>
  Object.fromEntries(Object.entries(thing).filter(([, value]) => typeof value === 'number'));

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
const capital = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;
