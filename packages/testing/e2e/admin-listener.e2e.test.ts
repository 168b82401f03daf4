import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { isAll } from '../lane';
import { freePort } from '../stores/server-process';
import { createTestKey, startGateway, TEST_ADMIN_TOKEN } from '../stores/start-gateway';
import { ask, postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const METRICS_TOKEN = 'metrics-token-0123456789';
const OPERATORS_PATHS = [
  '/',
  '/admin/docs',
  '/admin/v1/openapi.json',
  '/healthz',
  '/health',
  '/cachez',
  '/auth/providers',
];
const WRITTEN_OTHERWISE = [
  ...['/metrics', '/metrics/', '//metrics', '/METRICS', '/%6detrics', '/x/../metrics', '/metrics?x', '/metrics%3f'],
  ...[
    '/admin',
    '/admin/',
    '//admin/v1/projects',
    '/Admin/v1/projects',
    '/%61dmin/v1/projects',
    '/admin%2fv1%2fprojects',
  ],
  ...['/v1/../admin/v1/projects', '/index.html', '/assets/x.js', '/theme.js', '/icon.svg', '/settings', '/requests'],
  ...['/scim/v2/Users', '/scim/v2/ServiceProviderConfig'],
];

const adminUrlOf = (world: TestEnvironment) => /^dashboard: (\S+)\/$/m.exec(world.gateway.output())?.[1] ?? '';
const requestsIn = (metrics: string): number =>
  [...metrics.matchAll(/^llm0_requests_total\{[^}]*\} (\d+)$/gm)].reduce((sum, m) => sum + Number(m[1]), 0);

const LISTENERS = [
  ['one process', 'real', {}],
  [
    'two workers',
    'real',
    { GATEWAY_WORKERS: '2', ADMIN_TOKEN: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
  ],
] as const;

describe.each(isAll ? LISTENERS : LISTENERS.slice(0, 1))('a listener for operators, %s', (_name, kind, more) => {
  let world: TestEnvironment;
  let adminUrl: string;
  let operators: { url: string; adminToken: string };
  beforeAll(async () => {
    world = await shareEnvironment({ kind, apart: true, env: { ADMIN_PORT: '0', METRICS_TOKEN, ...more } });
    adminUrl = adminUrlOf(world);
    operators = { url: adminUrl, adminToken: world.gateway.adminToken };
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  const statusesOf = async (url: string, paths: readonly string[]) =>
    Promise.all(paths.map(async (path) => [path, (await fetch(url + path)).status]));

  test('operator pages are only on the admin port; the main port serves probes and callers', async () => {
    expect(adminUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(adminUrl).not.toBe(world.gateway.url);
    // On a busy machine a store may take longer than health checks wait.
    const endMs = performance.now() + 10_000;
    while ((await fetch(`${adminUrl}/readyz`)).status !== 200 && performance.now() < endMs) await Bun.sleep(50);
    expect(await statusesOf(adminUrl, OPERATORS_PATHS)).toEqual(OPERATORS_PATHS.map((path) => [path, 200]));
    const gone = [...OPERATORS_PATHS, ...WRITTEN_OTHERWISE];
    expect(await statusesOf(world.gateway.url, gone)).toEqual(gone.map((path) => [path, 404]));
    for (const url of [adminUrl, world.gateway.url]) {
      const probes = ['/livez', '/readyz', '/live', '/ready'];
      expect(await statusesOf(url, probes)).toEqual(probes.map((path) => [path, 200]));
    }
    const { error } = (await (await fetch(`${world.gateway.url}/admin/v1/projects`)).json()) as { error: object };
    expect(error).toMatchObject({ code: 'not_found' });
    const signIn = await fetch(`${world.gateway.url}/admin/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ token: world.gateway.adminToken }),
    });
    expect([signIn.status, signIn.headers.get('set-cookie')]).toEqual([404, null]);
    const { apiKey } = await createTestKey(operators);
    expect((await postChat(world.gateway, apiKey, ask('Hi'))).status).toBe(200);
  });

  test('/metrics wants its token, and no other', async () => {
    const metrics = (authorization?: string) =>
      fetch(`${adminUrl}/metrics`, { headers: authorization === undefined ? {} : { authorization } });
    for (const wrong of [undefined, 'Bearer', 'Bearer wrong', `Basic ${METRICS_TOKEN}`, `Bearer ${METRICS_TOKEN}x`]) {
      const refused = await metrics(wrong);
      expect([wrong, refused.status, refused.headers.get('www-authenticate')]).toEqual([wrong, 401, 'Bearer']);
      expect(await refused.text()).not.toContain('llm0_');
    }
    expect((await metrics(`Bearer ${world.gateway.adminToken}`)).status).toBe(401);
    const text = await (await metrics(`Bearer ${METRICS_TOKEN}`)).text();
    expect(requestsIn(text)).toBe(1);
  });

  test('an admin token that may be guessed is warned of once, without being shown', () => {
    const output = world.gateway.output();
    const warnings = output.match(/ADMIN_TOKEN may be guessed \(about \d+ bits\)/g) ?? [];
    expect(warnings).toHaveLength(world.gateway.adminToken === TEST_ADMIN_TOKEN ? 1 : 0);
    expect(output).not.toContain(world.gateway.adminToken);
  });

  test(
    'a shutdown lets both finish, then takes both away',
    async () => {
      const { apiKey } = await createTestKey(operators, { project: { cache_enabled: false } });
      const body = ask('long', { stream: true, x_fake: { chunks: 20, gapMs: 40 } });
      const stream = await postChat(world.gateway, apiKey, body);
      process.kill(world.gateway.pid, 'SIGTERM');
      expect((await stream.text()).trimEnd()).toEndWith('data: [DONE]');
      expect(await world.gateway.exited).toBe(0);
      for (const url of [adminUrl, world.gateway.url]) expect(fetch(`${url}/livez`)).rejects.toThrow();
    },
    SETUP_MS,
  );
});

test(
  'an ADMIN_PORT that is taken stops the start with its name, and leaves nothing behind',
  async () => {
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
    const port = await freePort();
    try {
      const failed = await startGateway({ env: { PORT: String(port), ADMIN_PORT: String(other.port) } }).catch(
        (error: Error) => error.message,
      );
      expect(failed).toContain(`ADMIN_PORT=${other.port}: another program listens there on 127.0.0.1`);
      expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow();
    } finally {
      await other.stop(true);
    }
  },
  SETUP_MS,
);
