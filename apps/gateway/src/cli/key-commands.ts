import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ClientAnswer } from './admin-client';
import { type Command, type CommandInput, type CommandOption, PAGE } from './command';
import { amount, column } from './format-table';
import { resolveKey, resolveProject } from './resolve-name';

const SHOWN_ONCE = 'The key is shown only once: store it now.';

const ALL_CURRENT = 'Every stored secret has the current key. Remove ENCRYPTION_KEY_PREVIOUS at the next restart.';

const settings: Readonly<Record<string, CommandOption>> = {
  'rate-limit-per-minute': { kind: 'number', help: 'requests a minute (60)' },
  'rate-limit-burst': { kind: 'number', help: 'requests at once (the same)' },
  'tokens-per-minute': { kind: 'number', help: 'tokens a minute (no limit)' },
  'max-concurrency': { kind: 'number', help: 'requests at the same time (no limit)' },
  'allowed-models': { kind: 'list', help: 'models that the key may call, separated by commas (all)' },
  'drop-params': { kind: 'flag', help: "drop parameters that a provider doesn't support (the project's)" },
  failover: { kind: 'text', help: "on or off (the alias's or project's)" },
  passthrough: { kind: 'list', help: "providers whose native APIs the key may use; '' = none (the project's)" },
  'allowed-tools': { kind: 'list', help: "MCP tools the key may call, such as github__*; '' = none (the project's)" },
  'code-mode': { kind: 'flag', help: "may run scripts over its MCP tools (the project's)" },
  'guardrail-rules': { kind: 'json', help: "guardrails in addition to its project's (none)" },
  labels: { kind: 'labels', help: "labels of its requests, in addition to the project's: team=search,env=prod (none)" },
  'expires-at': { kind: 'text', help: 'RFC 3339, such as 2030-01-01T00:00:00Z' },
  'budget-usd': { kind: 'usd', help: 'limit of the period, in USD (none)' },
  'budget-period': { kind: 'text', help: 'total or month (total)' },
  'daily-budget-usd': { kind: 'usd', help: 'limit of a UTC day, in USD (none)' },
  'weekly-budget-usd': { kind: 'usd', help: 'limit of a week from Monday, UTC, in USD (none)' },
  'max-run-budget-usd': { kind: 'usd', help: 'most that one of its runs may have, in USD (any amount)' },
  'default-run-budget-usd': { kind: 'usd', help: 'budget of a run that names none, in USD (none)' },
};

export const KEY_COMMANDS: readonly Command[] = [
  {
    name: 'keys create',
    summary: 'Create a key for a project (id or name); its secret is shown once',
    args: ['project', 'name'],
    options: settings,
    run: async (input) => input.api.post(await keysPath(input), { ...input.fields, name: input.args.name ?? '' }),
    note: (body) => `${SHOWN_ONCE}\n${limitOf(body)}`,
  },
  {
    name: 'keys update',
    summary: 'Change the given options, from the next request',
    args: ['project', 'key'],
    options: { name: { kind: 'text', help: 'a new name' }, ...settings },
    run: async (input) => input.api.patch(await keyPath(input), input.fields),
  },
  {
    name: 'keys get',
    summary: 'Show a key, without its secret',
    args: ['project', 'key'],
    run: async (input) => input.api.get(await keyPath(input)),
  },
  {
    name: 'keys list',
    summary: "List a project's keys, newest first",
    args: ['project'],
    options: PAGE,
    run: async (input) => input.api.get(await keysPath(input), input.fields),
    columns: [
      column('id'),
      column('name'),
      column('prefix'),
      column('state'),
      amount('rate_limit_per_minute', 'per minute'),
      amount('budget_usd', 'budget usd'),
      column('budget_period', { title: 'period' }),
      column('last_used_at', { title: 'last used' }),
      column('expires_at', { title: 'expires' }),
    ],
  },
  {
    name: 'keys rotate',
    summary: 'Give a key a new secret; the old one ends with the next request, or after a grace',
    args: ['project', 'key'],
    options: { 'grace-seconds': { kind: 'number', help: 'the old secret works for so long, such as 3600 (0)' } },
    run: async (input) => input.api.post(`${await keyPath(input)}/rotate`, input.fields),
    note: () => SHOWN_ONCE,
  },
  {
    name: 'keys reencrypt',
    summary: 'Encrypt stored secrets with the current ENCRYPTION_KEY; run it again after an interruption',
    run: reencryptAll,
    note: ({ unreadable }) =>
      unreadable === 0 ? ALL_CURRENT : `${unreadable} can't be opened: no known key sealed them.`,
    hasFailed: ({ unreadable }) => unreadable !== 0,
  },
  {
    name: 'keys approve',
    summary: 'Let a requested key work, from its next request',
    args: ['project', 'key'],
    run: async (input) => input.api.post(`${await keyPath(input)}/approve`, {}),
  },
  {
    name: 'keys refuse',
    summary: 'Refuse a requested key; it is deleted',
    args: ['project', 'key'],
    run: async (input) => input.api.post(`${await keyPath(input)}/refuse`, {}),
    note: (_, { args }) => `refused ${args.key}`,
  },
  {
    name: 'keys revoke',
    summary: 'Revoke a key, from its next request',
    args: ['project', 'key'],
    run: async (input) => input.api.delete(await keyPath(input)),
    note: (_, { args }) => `revoked ${args.key}`,
  },
];

/** An implicit limit would surprise its first user. */
function limitOf({ rate_limit_per_minute: perMinute, rate_limit_burst: burst }: JsonObject): string {
  if (typeof perMinute !== 'number') return 'Limit: none.';
  const atOnce = typeof burst === 'number' && burst !== perMinute ? `, ${burst} at once` : '';
  return `Limit: ${perMinute} requests a minute${atOnce}. --rate-limit-per-minute changes it; "none" removes it.`;
}

const keysPath = async ({ api, args }: CommandInput) =>
  `/projects/${await resolveProject(api, args.project ?? '')}/keys`;

const keyPath = ({ api, args }: CommandInput) => resolveKey(api, args.project ?? '', args.key ?? '');

/** Batch by batch: each of them is kept. */
async function reencryptAll({ api }: CommandInput): Promise<ClientAnswer> {
  const sum = { reencrypted: 0, unreadable: 0 };
  for (let after: JsonValue = null; ; ) {
    const { body } = await api.post('/secrets/reencrypt', { after });
    sum.reencrypted += Number(body.reencrypted);
    sum.unreadable += Number(body.unreadable);
    after = body.next ?? null;
    if (after === null) return { text: JSON.stringify(sum), body: sum };
  }
}
