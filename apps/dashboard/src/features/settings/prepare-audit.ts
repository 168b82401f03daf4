import type { AuditEntry } from '../../api/settings';
import { countOf } from '../../format/format-number';
import { formatInstant, type TimeZoneChoice } from '../../format/format-time';
import { formatUsdExact } from '../../format/format-usd';

/** An entry's parts that are told. */
export interface Told extends Pick<AuditEntry, 'actor' | 'action' | 'resource' | 'resource_id'> {
  readonly before: unknown;
  readonly after: unknown;
}

export interface AuditNames {
  readonly project: (id: string) => string;
  readonly key: (id: string) => string;
  readonly timeZone: TimeZoneChoice;
}

export interface Difference {
  readonly label: string;
  /** Absent in something new. */
  readonly before?: string;
  /** Absent in something deleted. */
  readonly after?: string;
}

type Json = Readonly<Record<string, unknown>>;

/** Fields that change with every change, or that name the resource itself. */
const UNTOLD = new Set(['id', 'created_at', 'updated_at', 'version', 'prefix']);
const LABELS: Readonly<Record<string, string>> = {
  project_id: 'project',
  api_key_id: 'key',
  rate_limit_per_minute: 'requests per minute',
  cache_enabled: 'caching',
  semantic_cache_enabled: 'semantic caching',
  previous_secret_expires_at: 'end of the old secret',
  expires_at: 'expiry',
};
const UNIT = /_(usd|ms|seconds|at|id)$/;

const labelOf = (field: string) =>
  LABELS[field] ?? field.replace('_usd_per_million', '_price_per_million').replace(UNIT, '').replaceAll('_', ' ');

/** What differs, field by field; all fields of something new or deleted. */
export function prepareDifferences(entry: Told, names: AuditNames): readonly Difference[] {
  const [before, after] = [objectOf(entry.before), objectOf(entry.after)];
  const [isNew, isGone] = [entry.before === null, entry.after === null];
  return changedFields(before, after).map((field) => ({
    label: labelOf(field),
    ...(isNew ? {} : { before: say(field, before[field], names) }),
    ...(isGone ? {} : { after: say(field, after[field], names) }),
  }));
}

function changedFields(before: Json, after: Json): readonly string[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const isSame = (field: string) => JSON.stringify(before[field] ?? null) === JSON.stringify(after[field] ?? null);
  return fields.filter((field) => !UNTOLD.has(field) && !isSame(field));
}

function say(field: string, value: unknown, { project, key, timeZone }: AuditNames): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number') return /_usd(_|$)/.test(field) ? formatUsdExact(value) : value.toLocaleString('en-US');
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ') || 'none at all';
  if (typeof value !== 'string') return JSON.stringify(value, null, 2);
  if (field === 'project_id') return project(value);
  if (field === 'api_key_id') return key(value);
  return /_(?:at|until)$/.test(field) ? formatInstant(value, timeZone) : value;
}

type Teller = (entry: Told, names: AuditNames) => string;

/** Entries that are no plain change of a resource, by action and resource; the actor comes before. */
const TELLERS: Readonly<Record<string, Teller>> = {
  'sign_in session': () => 'signed in',
  'reset token': () => 'reset the admin token',
  'reencrypt secrets': () => 'encrypted the stored secrets with the current key',
  'create closing': ({ after }) => `closed ${String(objectOf(after).month)}`,
  'create demo_data': () => 'created demo data',
  'purge cache': ({ resource_id: id }, { project }) =>
    `purged the cache${id === null ? '' : ` of project ${project(id)}`}`,
  'reject cache': ({ resource_id: id }, { project }) =>
    `removed a cached answer${id === null ? '' : ` of project ${project(id)}`}`,
  'import model': ({ after }) => {
    const { created, updated } = objectOf(after);
    return `imported prices: ${Number(created ?? 0)} new, ${Number(updated ?? 0)} changed`;
  },
  'send playground': ({ resource_id: id }, { key }) => `sent a request as key ${key(id ?? '')} from the playground`,
  'send tools': ({ resource_id: id }, { key }) => `sent an MCP message as key ${key(id ?? '')} from the dashboard`,
  'update run': (entry, names) => {
    const { state, ended_at: end } = objectOf(entry.after);
    return state === 'stopped' && end !== null ? `stopped ${thingOf(entry, names)}` : tellUpdate(entry, names);
  },
  'update mcp_tool': ({ resource_id: id, after }) => {
    const { approved, declined } = objectOf(after);
    if (declined === true) return `declined the tool ${id}`;
    return Array.isArray(approved)
      ? `approved ${countOf(approved.length, 'tool')} of MCP server ${id}`
      : `approved the tool ${id}`;
  },
  'rotate key': (entry, names) => {
    const { previous_secret_expires_at: end } = objectOf(entry.after);
    const old = typeof end === 'string' ? `works until ${formatInstant(end, names.timeZone)}` : 'ended at once';
    return `rotated the secret of ${thingOf(entry, names)}; the old one ${old}`;
  },
  'approve key': (entry, names) => `approved ${thingOf(entry, names)}`,
  'refuse key': (entry, names) => `refused ${thingOf(entry, names)}`,
  'create customer_limits': (entry, names) => `set limits for ${thingOf(entry, names)}`,
  'delete customer_limits': (entry, names) => `removed the limits of ${thingOf(entry, names)}`,
  'delete key': (entry, names) => `revoked ${thingOf(entry, names)}`,
  'delete token': (entry, names) => `revoked ${thingOf(entry, names)}`,
};

/** `Anna raised the monthly cap of project shop from $100.00 to $200.00`. */
export function prepareSentence(entry: Told, names: AuditNames): string {
  const { actor, action, resource } = entry;
  const tell = TELLERS[`${action} ${resource}`];
  if (tell !== undefined) return `${actor} ${tell(entry, names)}`;
  const thing = thingOf(entry, names);
  if (action === 'create' || action === 'delete') return `${actor} ${action}d ${thing}`;
  return `${actor} ${action === 'update' ? tellUpdate(entry, names) : `${spaced(action)}: ${thing}`}`;
}

function tellUpdate(entry: Told, names: AuditNames): string {
  const [before, after] = [objectOf(entry.before), objectOf(entry.after)];
  const thing = thingOf(entry, names);
  const [field, ...others] = changedFields(before, after);
  if (field === undefined) return `saved ${thing} without a change`;
  if (others.length > 0) return `changed ${listOf([field, ...others].map((one) => `the ${labelOf(one)}`))} of ${thing}`;
  const [was, is] = [before[field] ?? null, after[field] ?? null];
  const [from, to] = [say(field, was, names), say(field, is, names)];
  const what = `the ${labelOf(field)} of ${thing}`;
  if (field === 'name') return `renamed ${spaced(entry.resource)} ${from} to ${to}`;
  if (field === 'muted_until') return is === null ? `unmuted ${thing}` : `muted ${thing} until ${to}`;
  if (field === 'is_active') return `${is === true ? 'activated' : 'deactivated'} ${thing}`;
  if (typeof is === 'boolean') return `turned ${labelOf(field)} of ${thing} ${to}`;
  if (isLong(was) || isLong(is)) return `changed ${what}`;
  if (was === null) return `set ${what} to ${to}`;
  if (is === null) return `removed ${what} (${from})`;
  const isNumber = typeof was === 'number' && typeof is === 'number';
  return `${isNumber ? (is > was ? 'raised' : 'lowered') : 'changed'} ${what} from ${from} to ${to}`;
}

const MOST_NAMED = 3;
const isLong = (value: unknown) => typeof value === 'object' && value !== null;

/** `a`, `a and b`, `a, b and 2 more`. */
function listOf(all: readonly string[]): string {
  if (all.length <= MOST_NAMED) return `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
  return `${all.slice(0, MOST_NAMED - 1).join(', ')} and ${countOf(all.length - MOST_NAMED + 1, 'more', 'more')}`;
}

/** Resources whose name says little alone. */
const NOUNS: Readonly<Record<string, string>> = {
  token: 'admin token',
  admin_token: 'ADMIN_TOKEN',
  mcp_server: 'MCP server',
  mcp_grant: 'MCP sign-in',
  saved_view: 'view',
  annotation: 'note',
};

export const nounOf = (resource: string): string => NOUNS[resource] ?? spaced(resource);

/** `key prod of project shop`; a UUID only if nothing has its name. */
function thingOf({ resource, resource_id: id, before, after }: Told, { project }: AuditNames): string {
  const it: Json = { ...objectOf(before), ...objectOf(after) };
  const owner = typeof it.project_id === 'string' ? project(it.project_id) : '';
  const named = [it.name, it.alias, it.text].find((one) => typeof one === 'string' && one !== '');
  if (resource === 'customer_limits') return `customer ${it.customer_id ?? id}${owner === '' ? '' : ` of ${owner}`}`;
  if (resource === 'guardrails') return `the guardrails of project ${project(id ?? '')}`;
  if (resource === 'model') return `model ${id}`;
  if (resource === 'run') return `run ${it.id} of project ${owner}`;
  const noun = nounOf(resource);
  const place = resource !== 'project' && owner !== '' ? ` of project ${owner}` : '';
  return `${noun} ${String(named ?? id ?? '')}${place}`.trimEnd();
}

/** Keys whose names the entries lack. */
export const keysOf = (entries: readonly Told[]): readonly string[] =>
  entries.flatMap(({ action, resource_id: id }) => (action === 'send' && id !== null ? [id] : []));

export const spaced = (name: string): string => name.replaceAll('_', ' ').replace(/^mcp\b/, 'MCP');

const objectOf = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {});
