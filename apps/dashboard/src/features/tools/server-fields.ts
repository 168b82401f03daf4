import type { McpServer } from '../../api/tools';
import { EGRESS_HINT } from '../forms/egress-hint';
import type { FieldSpec, FormValues } from '../forms/prepare-form';
import { readLines, readPairs } from '../forms/read-lines';

const SHARED: readonly FieldSpec[] = [
  {
    name: 'price_per_call_usd',
    label: 'Price per call, USD',
    kind: 'usd',
    required: true,
    placeholder: '0',
    hint: 'Charged to the same budgets as models',
  },
  { name: 'timeout_ms', label: 'Time-out, ms', kind: 'integer', required: true, placeholder: '60000' },
  {
    name: 'allowed_tools',
    label: 'Allowed tools',
    kind: 'list',
    placeholder: 'all',
    hint: '* matches any characters. Leave empty for all.',
  },
  { name: 'blocked_tools', label: 'Blocked tools', kind: 'list', hint: 'Nobody may call these' },
  {
    name: 'approve_changes',
    label: 'When a tool changes',
    kind: 'text',
    options: { manual: 'hold it back until approved', auto: 'accept it' },
  },
  {
    name: 'description',
    label: 'Description',
    kind: 'text',
    hint: 'For agents that choose among servers',
  },
];

const URL_FIELD: FieldSpec = {
  ...{ name: 'url', label: 'URL', kind: 'text', required: true, isWide: true },
  placeholder: 'https://…/mcp',
  hint: EGRESS_HINT,
};
const AUTH: FieldSpec = {
  name: 'auth_type',
  label: 'Authentication',
  kind: 'text',
  options: {
    none: 'none',
    bearer: 'bearer token',
    header: 'a header',
    oauth_client: 'OAuth, as the gateway itself',
    oauth_user: 'OAuth, each user consents',
  },
};
/** Initial form value; secrets are never read back. */
export const KEPT_AUTH = 'keep';
const HEADERS: FieldSpec = {
  ...{ name: 'headers', label: 'Headers', kind: 'text', rows: 3, isWide: true, read: readPairs },
  hint: 'Sent with each request, one name=value per line. Stored encrypted and never shown again.',
};

const SECRET: Readonly<Record<string, readonly FieldSpec[]>> = {
  bearer: [{ name: 'secret', label: 'Token', kind: 'text', secret: true, required: true }],
  header: [
    { name: 'auth_name', label: 'Header', kind: 'text', required: true, placeholder: 'X-API-Key' },
    { name: 'secret', label: 'Value', kind: 'text', secret: true, required: true },
  ],
  oauth_client: [
    { name: 'client_id', label: 'Client ID', kind: 'text', required: true },
    { name: 'secret', label: 'Client secret', kind: 'text', secret: true, required: true },
    { name: 'scope', label: 'Scope', kind: 'text', required: true, hint: 'Leave empty for what the server asks for' },
  ],
  oauth_user: [
    {
      name: 'client_id',
      label: 'Client ID',
      kind: 'text',
      required: true,
      hint: 'Leave empty where the gateway may register',
    },
    { name: 'secret', label: 'Client secret (optional)', kind: 'text', secret: true },
    { name: 'scope', label: 'Scope', kind: 'text', required: true, hint: 'Leave empty for what the server asks for' },
  ],
};
/** Fields that may stay empty although they are left out then. */
const OPTIONAL = new Set(['price_per_call_usd', 'timeout_ms', 'scope']);

const STDIO: readonly FieldSpec[] = [
  { name: 'command', label: 'Command', kind: 'text', required: true, placeholder: 'npx', hint: 'Run without a shell' },
  {
    name: 'args',
    label: 'Arguments',
    kind: 'text',
    rows: 3,
    read: readLines,
    hint: 'One per line',
    show: (value) => (value as string[]).join('\n'),
  },
  {
    name: 'env',
    label: 'Environment',
    kind: 'text',
    rows: 3,
    read: readPairs,
    hint: 'One name=value per line. Stored encrypted and never shown again.',
  },
];

const optional = (specs: readonly FieldSpec[], isLoose: (name: string) => boolean): readonly FieldSpec[] =>
  specs.map((spec) => (isLoose(spec.name) ? { ...spec, required: undefined } : spec));

/** Fields of a new server, by its transport and how it knows the gateway. */
export function newServerFields(values: FormValues): readonly FieldSpec[] {
  const isStdio = values.transport === 'stdio';
  const isOwn = (name: string) => OPTIONAL.has(name) || (name === 'client_id' && values.auth_type === 'oauth_user');
  const place = isStdio ? STDIO : [URL_FIELD, AUTH, ...(SECRET[String(values.auth_type)] ?? []), HEADERS];
  return optional(
    [
      {
        name: 'alias',
        label: 'Alias',
        kind: 'text',
        required: true,
        placeholder: 'github',
        hint: 'Its tools are named alias__tool',
      },
      {
        name: 'transport',
        label: 'Transport',
        kind: 'text',
        options: { http: 'HTTP', stdio: 'stdio, run by the gateway' },
      },
      ...place,
      ...SHARED,
    ],
    isOwn,
  );
}

/** Fields of an existing server. Empty inputs keep stored headers and variables. */
export function serverFields({ transport, auth }: Pick<McpServer, 'transport' | 'auth'>, values: FormValues) {
  const chosen = String(values.auth_type);
  const keep = { [KEPT_AUTH]: `unchanged (${auth.type})` };
  const kept = (spec: FieldSpec): FieldSpec => ({
    ...spec,
    hint: 'Replaces the stored value. Leave empty to keep it.',
  });
  const place =
    transport === 'http'
      ? [URL_FIELD, { ...AUTH, options: { ...keep, ...AUTH.options } }, ...(SECRET[chosen] ?? []), kept(HEADERS)]
      : STDIO.map((spec) => (spec.name === 'env' ? kept(spec) : spec));
  const isOwn = (name: string) => OPTIONAL.has(name) || (name === 'client_id' && chosen === 'oauth_user');
  return optional([...place, ...SHARED, { name: 'is_active', label: 'Offer its tools', kind: 'flag' }], isOwn);
}

type Body = Readonly<Record<string, unknown>>;

/** Lists that an empty field takes away. */
const CLEARED = new Set(['allowed_tools', 'blocked_tools', 'args']);

/** Converts form values to an API body: drops or clears empty fields and groups the parts of `auth`. */
export function serverBody(body: Body): Record<string, unknown> {
  const { auth_type: type, auth_name: name, client_id: clientId, secret, scope, description, ...rest } = body;
  const given = Object.fromEntries(
    Object.entries(rest).filter(([key, value]) => value !== undefined && (value !== null || CLEARED.has(key))),
  );
  const described = description === undefined ? given : { ...given, description: description ?? '' };
  if (type === undefined || type === null || type === KEPT_AUTH) return described;
  return { ...described, auth: authOf(String(type), { name, clientId, secret, scope }) };
}

function authOf(type: string, parts: Body): Body {
  const { name, clientId, secret, scope } = parts;
  if (type === 'none') return { type };
  if (type === 'bearer') return { type, token: secret };
  if (type === 'header') return { type, name, value: secret };
  const more = { ...(clientId ? { client_id: clientId } : {}), ...(scope ? { scope } : {}) };
  return { type, ...(secret ? { client_secret: secret } : {}), ...more };
}
