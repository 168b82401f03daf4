import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type AdminClient, RequestFailed } from '../admin-client';
import { type Command, type CommandInput, type CommandOption, PAGE } from '../command';
import { column } from '../format-table';
import { dataOf, isObject } from '../read-list';
import { isId } from '../resolve-name';

const settings: Readonly<Record<string, CommandOption>> = {
  headers: { kind: 'json', help: 'sent with every request, as a JSON object; only names are shown' },
  'forward-headers': { kind: 'list', help: 'further caller headers to forward, by name' },
  'price-per-request-usd': { kind: 'usd', help: 'price of each answered request in USD (0)' },
  'timeout-ms': { kind: 'number', help: "milliseconds until an answer's headers (30000)" },
  retries: { kind: 'number', help: 'retries of repeatable requests (1)' },
  cache: { kind: 'json', help: 'true or false: cache answers to GET (true)' },
  'cache-ttl-seconds': { kind: 'number', help: 'lifetime of answers without their own; none = CACHE_TTL' },
  'is-active': { kind: 'json', help: 'true or false: use it' },
};

export const BACKEND_COMMANDS: readonly Command[] = [
  {
    name: 'backends list',
    summary: 'List HTTP backends, newest first, including those of the environment',
    options: PAGE,
    run: ({ api, fields }) => api.get('/backends', fields),
    shown: (body) => [...dataOf(body), ...environmentOf(body)].map(withCache),
    columns: [
      column('name'),
      column('url'),
      column('price_per_request_usd', { title: 'usd a request' }),
      column('timeout_ms', { title: 'timeout ms' }),
      column('retries'),
      column('caches'),
      column('is_active', { title: 'active' }),
      column('from'),
    ],
  },
  {
    name: 'backends create',
    summary: 'Add a plain HTTP backend, at once under /infer/<name>/',
    args: ['name', 'url'],
    options: settings,
    run: (input) => {
      const { name = '', url = '' } = input.args;
      return input.api.post('/backends', { name, url, ...bodyOf(input) });
    },
  },
  {
    name: 'backends set',
    summary: 'Change the given options; headers are replaced as a whole',
    args: ['backend'],
    options: { url: { kind: 'text', help: 'URL of the server' }, ...settings },
    run: async (input) => input.api.patch(await pathOf(input), bodyOf(input)),
  },
  {
    name: 'backends test',
    summary: "Call a backend now; exit code 1 if it doesn't answer",
    args: ['backend'],
    options: { path: { kind: 'text', help: 'path to request (/healthz)' } },
    run: async ({ api, args, fields }) => {
      const at = await findBackend(api, args.backend ?? '', { orFixed: true });
      return api.post(`/backends/${at}/test`, fields);
    },
    hasFailed: ({ ok }) => ok !== true,
  },
  {
    name: 'backends delete',
    summary: 'Delete an HTTP backend; its requests stay in the log',
    args: ['backend'],
    run: async (input) => input.api.delete(await pathOf(input)),
    note: (_, { args }) => `deleted ${args.backend}`,
  },
];

/** The two options of the cache are one field. */
function bodyOf({ fields }: Pick<CommandInput, 'fields'>): JsonObject {
  const { cache: enabled, cache_ttl_seconds: ttl, ...rest } = fields;
  if (enabled === undefined && ttl === undefined) return rest;
  const cache = {
    ...(enabled === undefined ? {} : { enabled }),
    ...(ttl === undefined ? {} : { ttl_seconds: ttl }),
  };
  return { ...rest, cache };
}

async function pathOf({ api, args }: Pick<CommandInput, 'api' | 'args'>): Promise<string> {
  return `/backends/${await findBackend(api, args.backend ?? '')}`;
}

/** With `orFixed` one of the environment is found too, by its name. */
async function findBackend(api: AdminClient, idOrName: string, { orFixed = false } = {}): Promise<string> {
  if (isId(idOrName)) return idOrName;
  const { body } = await api.get('/backends', { name: idOrName });
  const [found] = dataOf(body);
  if (isObject(found) && typeof found.id === 'string') return found.id;
  const isFixed = environmentOf(body).length > 0;
  if (isFixed && orFixed) return idOrName;
  const why = isFixed ? 'It comes from the environment. Change it there.' : 'See "backends list".';
  throw new RequestFailed(`There is no stored backend "${idOrName}". ${why}`);
}

const environmentOf = (body: JsonObject): readonly JsonValue[] => dataOf(body, 'environment');

function withCache(row: JsonValue): JsonObject {
  if (!isObject(row)) return {};
  const cache = isObject(row.cache) ? row.cache : {};
  const ttl = typeof cache.ttl_seconds === 'number' ? `${cache.ttl_seconds} s` : 'yes';
  return { ...row, caches: cache.enabled === true ? ttl : 'no', from: row.id === undefined ? 'environment' : 'stored' };
}
