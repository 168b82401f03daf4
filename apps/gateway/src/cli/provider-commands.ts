import type { JsonObject } from '@llm0/core/chat/json';
import { type Command, type CommandOption, EXIT, UsageError } from './command';
import { column } from './format-table';
import { dataOf } from './read-list';

const pathOf = (name: string | undefined) => `/providers/${encodeURIComponent(name ?? '')}`;

const NOT_SHOWN = 'The key is stored sealed and never shown again.';
/** Given on the command line a secret would stay in the shell's history. */
const KEY_VARIABLE = 'PROVIDER_KEY';

const settings: Readonly<Record<string, CommandOption>> = {
  'base-url': { kind: 'text', help: 'where it is; usually ends in /v1' },
  headers: { kind: 'json', help: 'sent with every request, as a JSON object; only names are shown' },
  models: { kind: 'json', help: 'what it serves: [{"model", "input_usd_per_million", "output_usd_per_million"}]' },
  'is-active': { kind: 'json', help: 'true or false: set up, but not used' },
};

const key: CommandOption = { kind: 'text', help: `the key; better from the variable ${KEY_VARIABLE}` };

export const PROVIDER_COMMANDS: readonly Command[] = [
  {
    noun: 'providers',
    verb: 'list',
    summary: 'List vendors and added providers, configured or not',
    args: [],
    options: { limit: { kind: 'number', help: 'how many (50)' } },
    run: async ({ api, fields, output }) => {
      const { text, body } = await api.get('/providers', fields);
      const rows = dataOf(body).map((row) => ({ ...(row as JsonObject), keys: keyCount(row as JsonObject) }));
      output.list(text, rows, [
        column('name'),
        column('kind'),
        column('is_configured', { title: 'configured' }),
        column('keys', { title: 'stored keys' }),
        column('base_url', { title: 'base url' }),
      ]);
      return EXIT.ok;
    },
  },
  {
    noun: 'providers',
    verb: 'create',
    summary: 'Add an OpenAI-compatible server, or set up a known vendor; live at once',
    args: ['name'],
    options: { ...settings, key },
    run: async ({ api, args, fields, output, env }) => {
      const secret = fields.key ?? env[KEY_VARIABLE];
      const body = { ...fields, name: args.name ?? '', ...(secret === undefined ? {} : { key: secret }) };
      const answer = await api.post('/providers', body);
      output.item(answer.text, answer.body);
      if (secret !== undefined) output.note(NOT_SHOWN);
      return EXIT.ok;
    },
  },
  {
    noun: 'providers',
    verb: 'set',
    summary: 'Change what is stored of a provider; headers and models are replaced as a whole',
    args: ['name'],
    options: settings,
    run: async ({ api, args, fields, output }) => {
      const { text, body } = await api.patch(pathOf(args.name), fields);
      output.item(text, body);
      return EXIT.ok;
    },
  },
  {
    noun: 'providers',
    verb: 'delete',
    summary: 'Delete what is stored of a provider, its keys with it',
    args: ['name'],
    options: {},
    run: async ({ api, args, output }) => {
      await api.delete(pathOf(args.name));
      output.note(`deleted ${args.name}`);
      return EXIT.ok;
    },
  },
  {
    noun: 'providers',
    verb: 'add-key',
    summary: 'Store a key for a provider, for everybody or for one project',
    args: ['provider'],
    options: {
      key,
      name: { kind: 'text', help: 'what to call it (default)' },
      'project-id': { kind: 'text', help: 'for this project only' },
    },
    run: async ({ api, args, fields, output, env }) => {
      const secret = fields.key ?? env[KEY_VARIABLE];
      if (secret === undefined) throw new UsageError(`the key is missing: set ${KEY_VARIABLE}, or give --key`);
      const { text, body } = await api.post(`${pathOf(args.provider)}/keys`, { ...fields, key: secret });
      output.item(text, body);
      output.note(NOT_SHOWN);
      return EXIT.ok;
    },
  },
  {
    noun: 'providers',
    verb: 'keys',
    summary: "List a provider's stored keys",
    args: ['provider'],
    options: { 'project-id': { kind: 'text', help: 'of this project only' } },
    run: async ({ api, args, fields, output }) => {
      const { text, body } = await api.get(`${pathOf(args.provider)}/keys`, fields);
      output.list(text, dataOf(body), [
        column('id'),
        column('name'),
        column('last_characters', { title: 'ends in' }),
        column('state'),
        column('project_id', { title: 'project' }),
        column('created_at', { title: 'created' }),
      ]);
      return EXIT.ok;
    },
  },
  {
    noun: 'providers',
    verb: 'remove-key',
    summary: 'Delete a stored key',
    args: ['provider', 'key'],
    options: {},
    run: async ({ api, args, output }) => {
      await api.delete(`${pathOf(args.provider)}/keys/${encodeURIComponent(args.key ?? '')}`);
      output.note(`removed ${args.key}`);
      return EXIT.ok;
    },
  },
  {
    noun: 'providers',
    verb: 'test',
    summary: 'Ask a provider one real thing; exit code 1 when it does not answer as it should',
    args: ['provider'],
    options: {
      model: { kind: 'text', help: 'asked for one word; without it the list of models is asked for, which is free' },
      'key-id': { kind: 'text', help: 'with this stored key' },
      'project-id': { kind: 'text', help: "with this project's keys" },
    },
    run: async ({ api, args, fields, output }) => {
      const { text, body } = await api.post(`${pathOf(args.provider)}/test`, fields);
      output.item(text, body);
      return body.ok === true ? EXIT.ok : EXIT.failed;
    },
  },
];

const keyCount = (row: JsonObject): number => (Array.isArray(row.keys) ? row.keys.length : 0);
