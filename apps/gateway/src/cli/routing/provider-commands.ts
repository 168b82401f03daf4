import type { JsonObject } from '@llm0/core/chat/json';
import { type Command, type CommandInput, type CommandOption, PAGE, PROJECT, UsageError } from '../command';
import { column } from '../format-table';
import { dataOf } from '../read-list';
import { resolveName } from '../resolve-name';

const pathOf = (name: string | undefined) => `/providers/${encodeURIComponent(name ?? '')}`;

const NOT_SHOWN = 'The key is stored sealed and never shown again.';
/** Given on the command line a secret would stay in the shell's history. */
const KEY_VARIABLE = 'PROVIDER_KEY';

const MAX_CONCURRENCY: CommandOption = {
  kind: 'number',
  help: 'requests under way at once, split among the processes (no limit)',
};

const settings: Readonly<Record<string, CommandOption>> = {
  'base-url': { kind: 'text', help: 'base URL; usually ends in /v1' },
  headers: { kind: 'json', help: 'sent with every request, as a JSON object; only names are shown' },
  models: {
    kind: 'json',
    help: 'models and prices: [{"model", "input_usd_per_million", "output_usd_per_million"}], or others such as "image_usd"',
  },
  'passthrough-paths': {
    kind: 'list',
    help: 'pass-through paths besides inference: "POST /v1/files,GET /v1/files/*"',
  },
  'request-timeout-ms': {
    kind: 'number',
    help: "milliseconds to connect, and to a stream's first event (REQUEST_TIMEOUT)",
  },
  'answer-timeout-ms': {
    kind: 'number',
    help: 'milliseconds to the end of an answer without streaming (ANSWER_TIMEOUT)',
  },
  drain: { kind: 'json', help: 'true or false: requests under way finish, new ones skip this provider' },
  'max-concurrency': MAX_CONCURRENCY,
  'health-check-interval-ms': {
    kind: 'number',
    help: 'milliseconds between two free questions whether it works (none)',
  },
  'is-active': { kind: 'json', help: 'true or false: use it' },
};

const key: CommandOption = { kind: 'text', help: `the key; safer in the variable ${KEY_VARIABLE}` };

export const PROVIDER_COMMANDS: readonly Command[] = [
  {
    name: 'providers list',
    summary: 'List known and added providers, configured or not',
    options: PAGE,
    run: ({ api, fields }) => api.get('/providers', fields),
    shown: (body) => dataOf(body).map((row) => ({ ...(row as JsonObject), keys: keyCount(row as JsonObject) })),
    columns: [
      column('name'),
      column('kind'),
      column('is_configured', { title: 'configured' }),
      column('keys', { title: 'stored keys' }),
      column('drain', { title: 'drained' }),
      column('base_url', { title: 'base url' }),
    ],
  },
  {
    name: 'providers create',
    summary: 'Add an OpenAI-compatible server, or configure a known provider; applies at once',
    args: ['name'],
    options: { ...settings, key },
    run: async (input) => {
      const secret = secretOf(input);
      const { api, args, fields } = input;
      return api.post('/providers', {
        ...fields,
        name: args.name ?? '',
        ...(secret === undefined ? {} : { key: secret }),
      });
    },
    note: (_, input) => (secretOf(input) === undefined ? undefined : NOT_SHOWN),
  },
  {
    name: 'providers set',
    summary: 'Change a provider; headers and models are replaced as a whole',
    args: ['name'],
    options: settings,
    run: ({ api, args, fields }) => api.patch(pathOf(args.name), fields),
  },
  {
    name: 'providers delete',
    summary: 'Delete a stored provider and its keys',
    args: ['name'],
    run: ({ api, args }) => api.delete(pathOf(args.name)),
    note: (_, { args }) => `deleted ${args.name}`,
  },
  {
    name: 'providers add-key',
    summary: 'Store a key for a provider, for all projects or one',
    args: ['provider'],
    options: {
      key,
      name: { kind: 'text', help: 'name of the key (default)' },
      'max-concurrency': MAX_CONCURRENCY,
      project: PROJECT,
    },
    run: async (input) => {
      const secret = secretOf(input);
      if (secret === undefined) throw new UsageError(`the key is missing: set ${KEY_VARIABLE}, or give --key`);
      return input.api.post(`${pathOf(input.args.provider)}/keys`, { ...input.fields, key: secret });
    },
    note: () => NOT_SHOWN,
  },
  {
    name: 'providers keys',
    summary: "List a provider's stored keys",
    args: ['provider'],
    options: { project: PROJECT },
    run: ({ api, args, fields }) => api.get(`${pathOf(args.provider)}/keys`, fields),
    columns: [
      column('id'),
      column('name'),
      column('last_characters', { title: 'ends in' }),
      column('state'),
      column('project_id', { title: 'project' }),
      column('created_at', { title: 'created' }),
    ],
  },
  {
    name: 'providers remove-key',
    summary: 'Delete a stored key',
    args: ['provider', 'key'],
    run: async ({ api, args }) => {
      const path = `${pathOf(args.provider)}/keys`;
      return api.delete(`${path}/${await resolveName(api, { what: 'key', path, idOrName: args.key ?? '' })}`);
    },
    note: (_, { args }) => `removed ${args.key}`,
  },
  {
    name: 'providers test',
    summary: 'Test a provider with a real request; exit code 1 if it fails',
    args: ['provider'],
    options: {
      model: { kind: 'text', help: 'model to test with one word; without it, lists the models, which is free' },
      'key-id': { kind: 'text', help: 'with this stored key' },
      project: PROJECT,
    },
    run: ({ api, args, fields }) => api.post(`${pathOf(args.provider)}/test`, fields),
    hasFailed: ({ ok }) => ok !== true,
  },
];

const secretOf = ({ fields, env }: Pick<CommandInput, 'fields' | 'env'>) => fields.key ?? env[KEY_VARIABLE];

const keyCount = (row: JsonObject): number => (Array.isArray(row.keys) ? row.keys.length : 0);
