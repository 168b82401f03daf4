import { expect, test } from 'bun:test';
import { KEPT_AUTH, newServerFields, serverBody, serverFields } from './server-fields';

test('the server form becomes an API body', () => {
  expect(serverBody({ alias: 'a', auth_type: 'none', allowed_tools: null, timeout_ms: null })).toEqual({
    ...{ alias: 'a', auth: { type: 'none' }, allowed_tools: null },
  });
  expect(serverBody({ auth_type: 'bearer', secret: 's' })).toEqual({ auth: { type: 'bearer', token: 's' } });
  expect(serverBody({ auth_type: 'oauth_user', client_id: 'c', secret: null, scope: 'read' })).toEqual({
    auth: { type: 'oauth_user', client_id: 'c', scope: 'read' },
  });
  expect(serverBody({ auth_type: KEPT_AUTH, description: null, args: null })).toEqual({ args: null, description: '' });
});

test('a form asks for the secret of the authentication that is chosen, and for none that is kept', () => {
  const names = (type: string) => serverFields(HTTP, { auth_type: type }).map(({ name }) => name);
  expect(names(KEPT_AUTH)).not.toContain('secret');
  expect(names('header')).toEqual(expect.arrayContaining(['auth_name', 'secret']));
  const fields = newServerFields({ transport: 'http', auth_type: 'oauth_user' });
  expect(fields.filter(({ required }) => required).map(({ name }) => name)).toEqual(['alias', 'url']);
});

const HTTP = { transport: 'http', auth: { type: 'bearer' } } as const;
