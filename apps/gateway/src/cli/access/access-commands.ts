import { type Command, PAGE } from '../command';
import { column } from '../format-table';
import { resolveName } from '../resolve-name';

/** Admin tokens: for people and programs that look after the gateway. */
export const ACCESS_COMMANDS: readonly Command[] = [
  {
    name: 'tokens create',
    summary: 'Create an admin token; its secret is shown once',
    args: ['name'],
    options: {
      role: { kind: 'text', help: 'admin, viewer or scim (admin)' },
      'can-read-bodies': { kind: 'flag', help: 'read stored prompts and answers (admins may, viewers may not)' },
      'expires-at': { kind: 'text', help: 'RFC 3339, such as 2030-01-01T00:00:00Z' },
    },
    run: ({ api, args, fields }) => api.post('/tokens', { ...fields, name: args.name ?? '' }),
    note: () => 'The token is shown only once: store it now.',
  },
  {
    name: 'tokens list',
    summary: 'List active admin tokens, newest first',
    options: PAGE,
    run: ({ api, fields }) => api.get('/tokens', fields),
    columns: [
      column('id'),
      column('name'),
      column('role'),
      column('can_read_bodies', { title: 'reads bodies' }),
      column('prefix'),
      column('created_at', { title: 'created' }),
      column('expires_at', { title: 'expires' }),
    ],
  },
  {
    name: 'tokens revoke',
    summary: 'Revoke an admin token',
    args: ['token'],
    run: async ({ api, args }) =>
      api.delete(`/tokens/${await resolveName(api, { what: 'token', path: '/tokens', idOrName: args.token ?? '' })}`),
    note: (_, { args }) => `revoked ${args.token}`,
  },
];
