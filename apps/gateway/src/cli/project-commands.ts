import { type Command, type CommandOption, EXIT } from './command';
import { amount, column } from './format-table';
import { dataOf } from './read-list';
import { resolveProject } from './resolve-project';

const settings: Readonly<Record<string, CommandOption>> = {
  'monthly-cap-usd': { kind: 'usd', help: 'most USD a UTC month' },
  'strict-caps': { kind: 'flag', help: 'the cap is absolute' },
  'default-output-tokens': { kind: 'number', help: 'held where a request sets no limit (4096)' },
  'cache-enabled': { kind: 'flag', help: 'exact cache (on)' },
  'cache-ttl-seconds': { kind: 'number', help: "how long answers are kept (the gateway's)" },
  'semantic-cache-enabled': { kind: 'flag', help: 'semantic cache (off)' },
  'semantic-threshold': { kind: 'number', help: 'least similarity, 0 to 1' },
  'semantic-shadow': { kind: 'flag', help: 'only log what the semantic cache would serve' },
  'on-store-failure': { kind: 'text', help: 'closed or open' },
  'unknown-model-policy': { kind: 'text', help: 'refuse or allow_unpriced' },
  'is-active': { kind: 'flag', help: 'serve its keys (on)' },
};

export const PROJECT_COMMANDS: readonly Command[] = [
  {
    noun: 'projects',
    verb: 'create',
    summary: 'Make a project',
    args: ['name'],
    options: settings,
    run: async ({ api, args, fields, output }) => {
      const { text, body } = await api.post('/projects', { ...fields, name: args.name ?? '' });
      output.item(text, body);
      return EXIT.ok;
    },
  },
  {
    noun: 'projects',
    verb: 'list',
    summary: 'List projects, newest first',
    args: [],
    options: {
      limit: { kind: 'number', help: 'how many (50)' },
      cursor: { kind: 'text', help: 'next_cursor of the page before' },
    },
    run: async ({ api, fields, output }) => {
      const { text, body } = await api.get('/projects', fields);
      output.list(text, dataOf(body), [
        column('id'),
        column('name'),
        amount('monthly_cap_usd', 'cap usd'),
        column('strict_caps', { title: 'strict' }),
        column('is_active', { title: 'active' }),
        column('created_at', { title: 'created' }),
      ]);
      return EXIT.ok;
    },
  },
  {
    noun: 'projects',
    verb: 'update',
    summary: 'Change what is given, from the next request on',
    args: ['project'],
    options: { name: { kind: 'text', help: 'a new name' }, ...settings },
    run: async ({ api, args, fields, output }) => {
      const id = await resolveProject(api, args.project ?? '');
      const { text, body } = await api.patch(`/projects/${id}`, fields);
      output.item(text, body);
      return EXIT.ok;
    },
  },
  {
    noun: 'projects',
    verb: 'delete',
    summary: 'Delete a project; its keys are refused from the next request on',
    args: ['project'],
    options: {},
    run: async ({ api, args, output }) => {
      const id = await resolveProject(api, args.project ?? '');
      await api.delete(`/projects/${id}`);
      output.note(`deleted ${id}`);
      return EXIT.ok;
    },
  },
];
