import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createKeySecret } from '@llm0/core/keys/api-key';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, ENV_TOKEN, openAdmin } from '../admin.fixture';

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

describe.each(ON_ONE_DATABASE)('sessions on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  const signIn = (token: string, headers: Record<string, string> = SAME_ORIGIN, address?: string) =>
    admin.call('POST', '/session', { token: null, body: { token }, headers, address });
  const cookieOf = (answer: { headers: Headers }) => answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  const withCookie = (cookie: string, method: string, path: string, more: Record<string, string> = SAME_ORIGIN) =>
    admin.call(method, path, {
      token: null,
      headers: { cookie, ...more },
      body: method === 'GET' || method === 'DELETE' ? undefined : { name: 'by session' },
    });

  test('the token becomes a cookie that scripts and other sites never see', async () => {
    const answer = await signIn(ENV_TOKEN);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ name: 'ADMIN_TOKEN', role: 'admin', version: '9.9.9' });
    expect(answer.text).not.toContain(ENV_TOKEN);
    const attributes = (answer.headers.get('set-cookie') ?? '').split('; ');
    expect(attributes[0]).toMatch(/^llm0_session=[0-9a-f]{64}$/);
    expect(attributes.slice(1)).toEqual(['Path=/admin', 'HttpOnly', 'SameSite=Strict', 'Max-Age=86400']);
    const secure = await signIn(ENV_TOKEN, { ...SAME_ORIGIN, 'x-forwarded-proto': 'https' });
    expect(secure.headers.get('set-cookie')).toEndWith('; Secure');
  });

  test('it opens the API until signed out; the audit names its token', async () => {
    const cookie = cookieOf(await signIn(ENV_TOKEN));
    expect((await withCookie(cookie, 'GET', '/session')).body).toMatchObject({ name: 'ADMIN_TOKEN' });
    expect((await withCookie(cookie, 'POST', '/projects')).status).toBe(201);
    const audit = await admin.call('GET', '/audit?actor=ADMIN_TOKEN&resource=project&limit=1');
    expect(audit.body.data[0]).toMatchObject({ action: 'create', after: { name: 'by session' } });
    const out = await withCookie(cookie, 'DELETE', '/session');
    expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect((await withCookie(cookie, 'GET', '/session')).status).toBe(401);
  });

  test.each([
    ['another site', 'POST', { 'sec-fetch-site': 'cross-site' }],
    ['another port of the host', 'POST', { 'sec-fetch-site': 'same-site' }],
    ['another origin, from a browser that says no more', 'POST', { origin: 'http://evil.test' }],
    ['nobody knows where', 'POST', {}],
    ['another site, reading', 'GET', { 'sec-fetch-site': 'cross-site' }],
  ])('a request of %s is refused', async (_where, method, headers) => {
    const cookie = cookieOf(await signIn(ENV_TOKEN));
    const answer = await withCookie(cookie, method, '/projects', headers);
    expect([answer.status, answer.body.error.code]).toEqual([403, 'permission_denied']);
    const made = await signIn(ENV_TOKEN, headers);
    if (method === 'POST') expect([made.status, made.headers.get('set-cookie')]).toEqual([403, null]);
  });

  test("only the page's own origin may change things", async () => {
    const own = { origin: 'http://localhost', host: 'localhost' };
    const cookie = cookieOf(await signIn(ENV_TOKEN, own));
    expect((await withCookie(cookie, 'POST', '/projects', own)).status).toBe(201);
  });

  test('wrong tokens are throttled, data-plane keys are wrong ones', async () => {
    for (let attempt = 0; attempt < 10; attempt++) {
      const answer = await signIn(attempt % 2 === 0 ? 'wrong' : createKeySecret().secret, SAME_ORIGIN, '192.0.2.9');
      expect([answer.status, answer.body.error.code]).toEqual([401, 'invalid_api_key']);
    }
    const refused = await signIn('wrong', SAME_ORIGIN, '192.0.2.9');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '6']);
  });

  test('a session reads only with a viewer token, and ends with its token', async () => {
    const { body: token } = await admin.call('POST', '/tokens', { body: { name: 'reader', role: 'viewer' } });
    const cookie = cookieOf(await signIn(token.token));
    expect((await withCookie(cookie, 'GET', '/projects')).status).toBe(200);
    expect((await withCookie(cookie, 'POST', '/projects')).status).toBe(403);
    const listed = (await admin.call('GET', '/tokens')).body.data;
    expect(listed.find((one: { id: string }) => one.id === token.id).open_sessions).toBe(1);
    await admin.call('DELETE', `/tokens/${token.id}`);
    expect((await withCookie(cookie, 'GET', '/projects')).status).toBe(401);
  });

  test('no cookie, half a cookie and an unknown one open nothing', async () => {
    for (const cookie of ['', 'llm0_session=', 'llm0_session=abc', `llm0_session=${'0'.repeat(64)}`]) {
      expect((await withCookie(cookie, 'GET', '/projects')).status).toBe(401);
    }
  });
});
