import { expect, test } from 'bun:test';
import { Hono } from 'hono';
import { loadAdminLater, loadScimLater } from './load-admin';

test('the admin API counts wrong tokens by address', async () => {
  const admin = new Hono<{ Bindings: { requestIP(request: Request): { address: string } } }>();
  admin.get('/who', (c) => c.text(c.env.requestIP(c.req.raw).address));
  const later = loadAdminLater(async () => ({ admin: admin as unknown as Hono, auth: new Hono() }));
  const served = new Hono().route('/admin', later.admin);
  const server = { requestIP: () => ({ address: '192.0.2.7' }) };
  const answer = await served.fetch(new Request('http://gateway.test/admin/who'), server);
  expect(await answer.text()).toBe('192.0.2.7');
  later.stop();
});

test('SCIM loads once, with its first request', async () => {
  let loads = 0;
  const scim = loadScimLater(async () => {
    loads += 1;
    return new Hono().get('/Users', (c) => c.text(c.req.path));
  });
  const served = new Hono().route('/scim', scim);
  await Bun.sleep(0);
  expect(loads).toBe(0);
  const ask = async () => (await served.request('/scim/v2/Users')).text();
  expect(await Promise.all([ask(), ask()])).toEqual(['/scim/v2/Users', '/scim/v2/Users']);
  expect(loads).toBe(1);
});
