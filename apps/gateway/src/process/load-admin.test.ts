import { expect, test } from 'bun:test';
import { Hono } from 'hono';
import { loadAdminLater } from './load-admin';

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
