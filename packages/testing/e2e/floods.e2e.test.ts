import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ask, postChat, settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const SETUP_MS = 60_000;
const BURST = 4;

interface Refusal {
  readonly error: { readonly code: string; readonly param: string | null; readonly retry_after?: number };
}

describe('floods are refused before anybody is known', () => {
  let world: TestEnvironment;
  let apiKey: string;
  let projectId: string;
  beforeAll(async () => {
    const env = {
      ...{ CLIENT_RPS: '1', CLIENT_BURST: String(BURST), GLOBAL_RPS: '1000', GLOBAL_BURST: '1000' },
      ...{ TRUST_PROXY_HOPS: '1', MAX_CONCURRENT_REQUESTS: '3' },
    };
    world = await shareEnvironment({ kind: 'real', env });
    ({ apiKey, projectId } = await createTestKey(world.gateway));
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  const from = (address: string, key = apiKey, body: object = ask('Hi')) =>
    postChat(world.gateway, key, body, { headers: { 'x-forwarded-for': address } });
  const statuses = async (count: number, address: (i: number) => string, key?: string) => {
    const seen: number[] = [];
    for (let i = 0; i < count; i++) seen.push((await from(address(i), key)).status);
    return seen;
  };

  test('a client beyond its burst gets 429 with the exact wait and leaves no row', async () => {
    const rowsBefore = (await callAdmin<{ data: object[] }>(world.gateway, `/logs?project_id=${projectId}`)).data
      .length;
    expect(await statuses(BURST, () => '198.51.100.1')).toEqual(Array(BURST).fill(200));
    const refused = await from('198.51.100.1');
    expect(refused.status).toBe(429);
    expect(((await refused.json()) as Refusal).error).toMatchObject({ code: 'rate_limit_exceeded', param: 'client' });
    const waitSeconds = Number(refused.headers.get('retry-after'));
    expect(waitSeconds).toBe(1);
    expect(refused.headers.get('ratelimit-policy')).toBe(`"client";q=${BURST};w=${BURST}`);
    expect(refused.headers.get('ratelimit')).toMatch(/^"client";r=0;t=[1-4]$/);
    expect((await from('198.51.100.2')).status).toBe(200);
    await Bun.sleep(waitSeconds * 1000);
    expect((await from('198.51.100.1')).status).toBe(200);
    await settledLedger(world.gateway);
    const rows = (await callAdmin<{ data: object[] }>(world.gateway, `/logs?project_id=${projectId}`)).data.length;
    expect(rows - rowsBefore).toBe(BURST + 2);
  });

  test('a path written another way is limited alike', async () => {
    const ways = ['/%76%31/chat/completions', '/v1/%63hat/completions', '/%761/models'];
    for (const [i, path] of ways.entries()) {
      const headers = { 'x-forwarded-for': `198.51.100.${100 + i}` };
      const seen: number[] = [];
      for (let n = 0; n < BURST + 2; n++) {
        seen.push((await fetch(world.gateway.url + path, { method: 'POST', headers })).status);
      }
      expect([path, seen.filter((status) => status === 429).length > 0]).toEqual([path, true]);
    }
  });

  test("requests sent as a key have the key's limits", async () => {
    const key = await createTestKey(world.gateway);
    const seen: number[] = [];
    for (let n = 0; n < BURST + 2; n++) {
      const path = `/admin/v1/projects/${key.projectId}/keys/${key.keyId}/chat/completions`;
      const headers = { authorization: `Bearer ${world.gateway.adminToken}`, 'x-forwarded-for': '198.51.100.150' };
      const init = { method: 'POST', headers, body: JSON.stringify(ask('Hi')) };
      seen.push((await fetch(world.gateway.url + path, init)).status);
    }
    expect(new Set(seen)).toEqual(new Set([200, 429]));
  });

  test('no client can forge an address, and a /64 is one client', async () => {
    const spoofed = await statuses(BURST + 2, (i) => `203.0.113.${i}, 198.51.100.9`);
    expect(spoofed.filter((status) => status === 429).length).toBeGreaterThanOrEqual(1);
    const hosts = await statuses(BURST + 2, (i) => `2001:db8:1:2::${i + 1}`);
    expect(hosts.filter((status) => status === 429).length).toBeGreaterThanOrEqual(1);
    expect((await from('2001:db8:1:3::1')).status).toBe(200);
  });

  test('guessing keys is limited before a key is looked at; other dialects are told in their own words', async () => {
    const guessed = await statuses(BURST + 2, () => '198.51.100.20', `llm0_live_${'0'.repeat(64)}`);
    expect(new Set(guessed)).toEqual(new Set([401, 429]));
    const response = await fetch(`${world.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'x-forwarded-for': '198.51.100.20' },
      body: '{}',
    });
    expect([response.status, await response.json()]).toEqual([
      429,
      expect.objectContaining({ type: 'error', error: expect.objectContaining({ type: 'rate_limit_error' }) }),
    ]);
  });

  test('probes, metrics and the admin API are never limited', async () => {
    for (let i = 0; i < 3 * BURST; i++) {
      for (const path of ['/livez', '/readyz', '/metrics', '/']) {
        expect(
          (await fetch(world.gateway.url + path, { headers: { 'x-forwarded-for': '198.51.100.20' } })).status,
        ).toBe(200);
      }
    }
    const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text();
    expect(metrics).toMatch(/llm0_flood_refusals_total\{limit="client"\} [1-9]/);
  });

  test('guessing admin tokens is refused before anything is compared, for one address and no other', async () => {
    const { url, adminToken } = world.gateway;
    const look = async (token: string, forwarded: string) =>
      (await fetch(`${url}/admin/v1/projects`, {
        headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': forwarded },
      })) as Response;
    const signIn = (token: string, forwarded: string) =>
      fetch(`${url}/admin/v1/session`, {
        method: 'POST',
        headers: {
          ...{ 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'x-forwarded-for': forwarded },
        },
        body: JSON.stringify({ token }),
      });
    expect((await look(adminToken, '203.0.113.77')).status).toBe(200);
    const guesses = await Promise.all(
      Array.from({ length: 30 }, (_, i) => look(`guess ${i}`, `10.0.0.${i}, 203.0.113.66`)),
    );
    const statuses = guesses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(10);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(11);
    for (const refused of [await look(adminToken, '203.0.113.66'), await signIn(adminToken, '203.0.113.66')]) {
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 7);
      expect(((await refused.json()) as Refusal).error).toMatchObject({ code: 'rate_limit_exceeded', param: 'client' });
    }
    for (const address of ['203.0.113.77', '203.0.113.78']) {
      expect((await look(adminToken, address)).status).toBe(200);
      expect((await signIn(adminToken, address)).status).toBe(201);
    }
    expect((await from('203.0.113.66')).status).toBe(200);
  });

  test('the concurrency limit holds', async () => {
    const { control } = world.upstream;
    control.hold();
    const held = [1, 2, 3].map((i) => from(`192.0.2.${i}`, apiKey, ask(`held ${i}`)));
    await waitUntil(() => control.counters.waiting === 3);
    const refused = await from('192.0.2.4', apiKey, ask('one more'));
    expect([refused.status, ((await refused.json()) as Refusal).error.code]).toEqual([503, 'overloaded']);
    expect(refused.headers.get('retry-after')).toBe('1');
    control.release();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await from('192.0.2.4', apiKey, ask('one more'))).status).toBe(200);
  });
});
