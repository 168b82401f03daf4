import { type Command, EXIT } from './command';
import { amount, column } from './format-table';
import { dataOf } from './read-list';
import { resolveProject } from './resolve-project';

const SHOWN_ONCE = 'The key is shown this once: keep it now.';

export const KEY_COMMANDS: readonly Command[] = [
  {
    noun: 'keys',
    verb: 'create',
    summary: 'Make a key for a project (id or name); its secret is shown once',
    args: ['project', 'name'],
    options: {
      'rate-limit-per-minute': { kind: 'number', help: 'requests a minute (60)' },
      'rate-limit-burst': { kind: 'number', help: 'at once (the same)' },
      'tokens-per-minute': { kind: 'number', help: 'tokens a minute' },
      'max-concurrency': { kind: 'number', help: 'requests at the same time' },
      'allowed-models': { kind: 'list', help: 'names, separated by commas' },
      'expires-at': { kind: 'text', help: 'RFC 3339, such as 2030-01-01T00:00:00Z' },
      'budget-usd': { kind: 'usd', help: 'most USD in the period' },
      'budget-period': { kind: 'text', help: 'total or month (total)' },
    },
    run: async ({ api, args, fields, output }) => {
      const projectId = await resolveProject(api, args.project ?? '');
      const { text, body } = await api.post(`/projects/${projectId}/keys`, { ...fields, name: args.name ?? '' });
      output.item(text, body);
      output.note(SHOWN_ONCE);
      return EXIT.ok;
    },
  },
  {
    noun: 'keys',
    verb: 'list',
    summary: "List a project's keys, newest first",
    args: ['project'],
    options: {
      limit: { kind: 'number', help: 'how many (50)' },
      cursor: { kind: 'text', help: 'next_cursor of the page before' },
    },
    run: async ({ api, args, fields, output }) => {
      const projectId = await resolveProject(api, args.project ?? '');
      const { text, body } = await api.get(`/projects/${projectId}/keys`, fields);
      output.list(text, dataOf(body), [
        column('id'),
        column('name'),
        column('prefix'),
        column('is_active', { title: 'active' }),
        amount('rate_limit_per_minute', 'per minute'),
        amount('budget_usd', 'budget usd'),
        column('budget_period', { title: 'period' }),
        column('expires_at', { title: 'expires' }),
      ]);
      return EXIT.ok;
    },
  },
  {
    noun: 'keys',
    verb: 'rotate',
    summary: 'Give a key a new secret; the old one is refused from its next request on',
    args: ['project', 'key'],
    options: {},
    run: async ({ api, args, output }) => {
      const projectId = await resolveProject(api, args.project ?? '');
      const { text, body } = await api.post(`/projects/${projectId}/keys/${encodeURIComponent(args.key ?? '')}/rotate`);
      output.item(text, body);
      output.note(SHOWN_ONCE);
      return EXIT.ok;
    },
  },
  {
    noun: 'keys',
    verb: 'revoke',
    summary: 'Refuse a key from its next request on',
    args: ['project', 'key'],
    options: {},
    run: async ({ api, args, output }) => {
      const projectId = await resolveProject(api, args.project ?? '');
      await api.delete(`/projects/${projectId}/keys/${encodeURIComponent(args.key ?? '')}`);
      output.note(`revoked ${args.key}`);
      return EXIT.ok;
    },
  },
];
