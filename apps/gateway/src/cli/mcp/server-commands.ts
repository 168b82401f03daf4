import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type AdminClient, RequestFailed } from '../admin-client';
import { type Command, type CommandInput, type CommandOption, PAGE, UsageError } from '../command';
import { column } from '../format-table';
import { dataOf, isObject } from '../read-list';
import { isId } from '../resolve-name';

/** Given on the command line a secret would stay in the shell's history. */
const TOKEN_VARIABLE = 'MCP_TOKEN';
const NOT_SHOWN = 'Its secrets are stored sealed and never shown again.';

const settings: Readonly<Record<string, CommandOption>> = {
  url: { kind: 'text', help: 'URL of the server' },
  command: { kind: 'text', help: 'program of a stdio server, run without a shell' },
  args: { kind: 'json', help: `arguments of a stdio server: '["-y","@modelcontextprotocol/server-memory"]'` },
  env: { kind: 'json', help: 'environment of a stdio server, as a JSON object; only names are shown' },
  description: { kind: 'text', help: 'description for agents that choose a server' },
  headers: { kind: 'json', help: 'sent with every request, as a JSON object; only names are shown' },
  token: { kind: 'text', help: `bearer token; safer in the variable ${TOKEN_VARIABLE}` },
  'token-header': { kind: 'text', help: 'header for the token, unless it is a bearer token' },
  'allowed-tools': { kind: 'list', help: 'permitted tools, * for any characters (all)' },
  'blocked-tools': { kind: 'list', help: 'forbidden tools' },
  'price-per-call-usd': { kind: 'usd', help: 'price of each call in USD (0)' },
  'timeout-ms': { kind: 'number', help: 'milliseconds without an answer (60000)' },
  'approve-changes': { kind: 'text', help: 'approval of changed tools: manual or auto (manual)' },
  'is-active': { kind: 'json', help: 'true or false: use it' },
};

const APPROVALS: readonly JsonValue[] = ['all', 'read-only', 'none'];

export const MCP_COMMANDS: readonly Command[] = [
  {
    name: 'mcp servers list',
    summary: 'List MCP servers, newest first',
    options: PAGE,
    run: ({ api, fields }) => api.get('/mcp/servers', fields),
    shown: (body) => dataOf(body).map(withHealth),
    columns: [
      column('alias'),
      column('transport'),
      column('place', { title: 'url or command' }),
      column('state'),
      column('tools'),
      column('held_back', { title: 'held back' }),
      column('price_per_call_usd', { title: 'usd a call' }),
      column('error'),
    ],
  },
  {
    name: 'mcp servers add',
    summary: 'Add an MCP server; applies at once, and approves its read-only tools',
    args: ['alias'],
    options: { ...settings, approve: { kind: 'text', help: 'tools to approve: all, read-only or none (read-only)' } },
    run: (input) => {
      const { api, args, fields } = input;
      const { approve = 'read-only' } = fields;
      if (!APPROVALS.includes(approve)) throw new UsageError('--approve must be all, read-only or none');
      const transport = fields.command === undefined ? 'http' : 'stdio';
      const own = { alias: args.alias ?? '', transport, ...bodyOf(input) };
      return api.post('/mcp/servers', { ...own, approve: approve === 'read-only' ? 'read_only' : approve });
    },
    shown: withHealth,
    note: (_, { fields, env }) => (hasSecret(fields, env) ? NOT_SHOWN : undefined),
  },
  {
    name: 'mcp servers set',
    summary: 'Change the given options; headers, environment and token are replaced as a whole',
    args: ['alias'],
    options: settings,
    run: async (input) => input.api.patch(await serverPath(input), bodyOf(input)),
    shown: withHealth,
  },
  {
    name: 'mcp servers test',
    summary: "Read an MCP server's tools now; exit code 1 if it doesn't answer",
    args: ['alias'],
    run: async (input) => input.api.post(`${await serverPath(input)}/refresh`),
    hasFailed: ({ ok }) => ok !== true,
  },
  {
    name: 'mcp servers remove',
    summary: 'Delete an MCP server; its calls stay in the log',
    args: ['alias'],
    run: async (input) => input.api.delete(await serverPath(input)),
    note: (_, { args }) => `removed ${args.alias}`,
  },
  {
    name: 'mcp tools list',
    summary: "List a server's tools, and which of them wait for approval",
    args: ['alias'],
    run: async (input) => input.api.get(`${await serverPath(input)}/tools`),
    columns: [column('name'), column('state'), column('is_offered', { title: 'offered' }), column('description')],
  },
  {
    name: 'mcp tools approve',
    summary: 'Approve a tool as its server lists it now; applies at once',
    args: ['alias', 'tool'],
    run: async (input) => {
      const tool = encodeURIComponent(input.args.tool ?? '');
      return input.api.post(`${await serverPath(input)}/tools/${tool}/approve`);
    },
    note: (_, { args }) => `approved ${args.tool}`,
  },
  {
    name: 'mcp tools decline',
    summary: 'Leave a tool out until its server changes it; it no longer waits',
    args: ['alias', 'tool'],
    run: async (input) => {
      const tool = encodeURIComponent(input.args.tool ?? '');
      return input.api.post(`${await serverPath(input)}/tools/${tool}/decline`);
    },
    note: (_, { args }) => `declined ${args.tool}`,
  },
];

/** With `auth` made from the token, where one is given. */
function bodyOf({ fields, env }: Pick<CommandInput, 'fields' | 'env'>): JsonObject {
  const { token = env[TOKEN_VARIABLE], token_header: header, ...rest } = fields;
  if (token === undefined && header !== undefined) {
    throw new UsageError(`the token is missing: set ${TOKEN_VARIABLE}, or give --token`);
  }
  if (token === undefined) return rest;
  if (token === null) return { ...rest, auth: { type: 'none' } };
  const isBearer = header === undefined || header === null;
  const auth: JsonObject = isBearer ? { type: 'bearer', token } : { type: 'header', name: header, value: token };
  return { ...rest, auth };
}

const hasSecret = (fields: JsonObject, env: CommandInput['env']): boolean =>
  env[TOKEN_VARIABLE] !== undefined || ['token', 'headers', 'env'].some((name) => fields[name] !== undefined);

async function serverPath({ api, args }: Pick<CommandInput, 'api' | 'args'>): Promise<string> {
  return `/mcp/servers/${await findServer(api, args.alias ?? '')}`;
}

async function findServer(api: AdminClient, idOrAlias: string): Promise<string> {
  if (isId(idOrAlias)) return idOrAlias;
  const { body } = await api.get('/mcp/servers', { alias: idOrAlias });
  const [found] = dataOf(body);
  if (isObject(found) && typeof found.id === 'string') return found.id;
  throw new RequestFailed(`There is no MCP server "${idOrAlias}".`);
}

function withHealth(row: JsonValue): JsonObject {
  if (!isObject(row)) return {};
  const { health, ...rest } = row;
  const {
    state = null,
    error = null,
    tool_count: tools = null,
    held_back_count: heldBack = null,
  } = isObject(health) ? health : {};
  return { ...rest, place: row.url ?? row.command ?? null, state, tools, held_back: heldBack, error };
}
