import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { closedVault } from '@llm0/core/keys/secret-vault';
import { backendRows } from '@llm0/drizzle/queries/routing/backends';
import { type HttpBackend, startHttpBackend } from '@llm0/testing/fake-upstream/start-http-backend';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

const SECRET = 'Zebra.crossing.at.night';

describe.each(ON_ONE_DATABASE)('HTTP backends on $name', (kind) => {
  let admin: AdminUnderTest;
  let backend: HttpBackend;
  beforeAll(async () => {
    backend = startHttpBackend();
    admin = await openAdmin(kind, { backendUrl: backend.url });
  }, 60_000);
  afterAll(async () => {
    await backend.stop();
    await admin.close();
  });

  const call = (method: string, path: string, body?: object) =>
    admin.call(method, path, body === undefined ? {} : { body });
  const freeName = () => `b-${crypto.randomUUID().slice(0, 8)}`;
  const add = async (more: object = {}) =>
    (await call('POST', '/backends', { name: freeName(), url: backend.url, ...more })).body;

  test('one is added, changed and removed, and its headers never come back', async () => {
    const name = freeName();
    const headers = { 'X-Tenant': SECRET };
    const made = await call('POST', '/backends', {
      ...{ name, url: `${backend.url}/`, headers, price_per_request_usd: '0.0025', cache: { ttl_seconds: 5 } },
      forward_headers: ['X-Trace'],
    });
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        ...{ name, url: backend.url, header_names: ['X-Tenant'], price_per_request_usd: '0.0025', is_active: true },
        forward_headers: ['X-Trace'],
        ...{ timeout_ms: 30_000, retries: 1, cache: { enabled: true, ttl_seconds: 5 } },
      },
    ]);
    const path = `/backends/${made.body.id}`;
    expect((await call('PATCH', path, { retries: 3, cache: { enabled: false } })).body).toMatchObject({
      ...{ retries: 3, cache: { enabled: false, ttl_seconds: 5 }, header_names: ['X-Tenant'] },
    });
    expect((await call('PATCH', path, { headers: null, cache: { ttl_seconds: null } })).body).toMatchObject({
      ...{ header_names: [], cache: { enabled: false, ttl_seconds: null } },
    });
    const listed = await call('GET', `/backends?name=${name}`);
    expect(listed.body.data).toHaveLength(1);
    for (const { text } of [made, listed, await call('GET', path), await call('GET', '/audit?limit=20')]) {
      expect(text).not.toContain(SECRET);
    }
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('GET', path)).status).toBe(404);
  });

  test('those of the environment are shown, and keep their names', async () => {
    const page = (await call('GET', '/backends')).body;
    expect(page.environment).toMatchObject([{ name: 'fixed', url: backend.url, retries: 1 }]);
    expect((await call('POST', '/backends', { name: 'fixed', url: backend.url })).status).toBe(409);
    const { name } = await add();
    expect((await call('POST', '/backends', { name, url: backend.url })).status).toBe(409);
  });

  test.each([
    { name: 'postgres' },
    { name: 'Upper' },
    { name: 'a/b' },
    { url: 'ftp://x.test' },
    { url: 'http://user:pass@x.test' },
    { url: 'http://x.test/?a=1' },
    { url: 'http://169.254.169.254/latest' },
    { url: 'http://10.0.0.1' },
    { headers: { Host: 'x' } },
    { headers: { 'Content-Length': '1' } },
    { headers: { 'Bad Name': 'x' } },
    { headers: { 'x-a': 'one\ntwo' } },
    { price_per_request_usd: -1 },
    { timeout_ms: 1 },
    { retries: 99 },
    { cache: { ttl_seconds: 0 } },
    { unknown: true },
  ])('%j is refused', async (bad) => {
    const answer = await call('POST', '/backends', { name: freeName(), url: 'http://127.0.0.1:1', ...bad });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  });

  test.each([
    ['Host', 'headers.Host: is a header that requests need as it is.'],
    ['Bad Name', 'headers.Bad Name: must be the name of a header.'],
  ])('why a header named %s is refused is told', async (header, message) => {
    const body = { name: freeName(), url: 'http://127.0.0.1:1', headers: { [header]: 'x' } };
    expect((await call('POST', '/backends', body)).body.error.message).toBe(message);
  });

  test('a test asks for one path with its headers, and says how it went', async () => {
    const { id } = await add({ headers: { authorization: `Bearer ${SECRET}` } });
    backend.seen.length = 0;
    expect((await call('POST', `/backends/${id}/test`, { path: '/ready?x=1' })).body).toMatchObject({
      ...{ ok: true, status: 200, error: null },
    });
    expect(backend.seen[0]).toMatchObject({ target: '/ready?x=1', headers: { authorization: `Bearer ${SECRET}` } });
    backend.answer = () => new Response('no', { status: 503 });
    expect((await call('POST', `/backends/${id}/test`, {})).body).toMatchObject({ ok: false, status: 503 });
    backend.answer = () => new Response('yes');
    for (const path of ['no-slash', '/../up']) {
      expect((await call('POST', `/backends/${id}/test`, { path })).status).toBe(400);
    }
    const gone = await add({ url: 'http://127.0.0.1:9' });
    expect((await call('POST', `/backends/${gone.id}/test`, {})).body).toMatchObject({ ok: false, status: null });
  });

  test('a successful test or a change reopens a backend in all processes', async () => {
    const { id, name } = await add();
    const restored = () => admin.restored.splice(0);
    expect(restored()).toContain(`infer:${name}`);
    backend.answer = () => new Response('no', { status: 503 });
    await call('POST', `/backends/${id}/test`, {});
    await call('PATCH', `/backends/${id}`, { price_per_request_usd: '0.01' });
    expect(restored()).toEqual([]);
    backend.answer = () => new Response('yes');
    await call('POST', `/backends/${id}/test`, {});
    expect(restored()).toEqual([`infer:${name}`]);
    for (const change of [{ is_active: false }, { is_active: true }, { url: backend.url }, { headers: null }]) {
      await call('PATCH', `/backends/${id}`, change);
      expect([change, restored()]).toEqual([change, [`infer:${name}`]]);
    }
    await call('DELETE', `/backends/${id}`);
    await call('POST', '/backends', { name, url: backend.url });
    expect(restored()).toEqual([`infer:${name}`]);
  });

  test('one of the environment is tested by its name, and then asked again', async () => {
    admin.restored.length = 0;
    backend.answer = () => new Response('no', { status: 503 });
    expect((await call('POST', '/backends/fixed/test', {})).body).toMatchObject({ ok: false, status: 503 });
    expect(admin.restored).toEqual([]);
    backend.answer = () => new Response('yes');
    expect((await call('POST', '/backends/fixed/test', { path: '/ready' })).body).toMatchObject({ ok: true });
    expect(admin.restored).toEqual(['infer:fixed']);
    const { name } = await add();
    for (const unknown of ['nobody', name, crypto.randomUUID()]) {
      expect((await call('POST', `/backends/${unknown}/test`, {})).status).toBe(404);
    }
  });

  test('headers are sealed, bound to their row', async () => {
    const { id } = await add({ headers: { 'x-secret': SECRET } });
    const row = await backendRows.get(admin.database.db, { id });
    expect(Buffer.from(row?.encryptedHeaders ?? []).toString('latin1')).not.toContain(SECRET);
    const closed = await openAdmin(kind, { vault: closedVault });
    try {
      const refused = await closed.call('POST', '/backends', {
        body: { name: freeName(), url: backend.url, headers: { 'x-secret': SECRET } },
      });
      expect(refused.status).toBeGreaterThanOrEqual(400);
    } finally {
      await closed.close();
    }
  });
});
