import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey, type GatewayProcess } from '../stores/start-gateway';
import { ask, logRow, ON_ONE_KIND_UNLESS_ALL, postChat, shareEnvironment, type TestEnvironment } from './environment';
import { runsApart, testApart } from './test-apart';

const SETUP_MS = 60_000;
const FIRST = 'sk-environment-first-000000001';
const SECOND = 'sk-environment-second-00000002';
const STORED = 'sk-stored-for-everybody-000003';
const OWN = 'sk-of-one-project-00000000004';
const HEADER = 'tenant-header-secret-00005';
const SECRETS = [FIRST, SECOND, STORED, OWN, HEADER];

describe.each(ON_ONE_KIND_UNLESS_ALL)('keys of providers on %s stores', (kind) => {
  let world: TestEnvironment;
  const replicas: GatewayProcess[] = [];
  /** Everything that any of them answered. */
  const said: string[] = [];
  beforeAll(async () => {
    const env = {
      OPENAI_API_KEY: `${FIRST},${SECOND}`,
      FAILOVER_MODE: 'cloud_only',
      LOG_LEVEL: 'debug',
    };
    world = await shareEnvironment({ kind, allVendors: false, apart: runsApart, env });
    replicas.push(world.gateway);
    // Beside embedded stores there can be no other.
    if (kind === 'real') replicas.push(await hostGateway({ env: world.env }));
  }, SETUP_MS);
  afterAll(async () => {
    await replicas[1]?.kill();
    await world.close();
  }, SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  const usedKeys = () =>
    world.upstream.requests.map(({ headers }) => headers.authorization?.replace('Bearer ', '') ?? 'none');

  async function post(apiKey: string, gateway = world.gateway, model = 'gpt-4o-mini') {
    const answer = await postChat(gateway, apiKey, ask('Hi', { model }));
    const text = await answer.text();
    said.push(text, JSON.stringify(Object.fromEntries(answer.headers)));
    return { status: answer.status, text, id: answer.headers.get('x-request-id') ?? '' };
  }

  async function admin<T>(path: string, init: { method: string; body?: object }): Promise<T> {
    const answer = await callAdmin<T>(world.gateway, path, init);
    said.push(JSON.stringify(answer ?? null));
    return answer;
  }

  const newKey = () => createTestKey(world.gateway, { project: { cache_enabled: false } });

  test('a key that is told to wait rests, and the next one answers within the same attempt', async () => {
    const { apiKey } = await newKey();
    world.upstream.control.enqueue({ status: 429, retryAfter: '2' });
    const answer = await post(apiKey);
    expect([answer.status, usedKeys()]).toEqual([200, [FIRST, SECOND]]);
    await post(apiKey);
    expect(usedKeys().at(-1)).toBe(SECOND);
    expect(await logRow(world.gateway, answer.id)).toMatchObject({ status: 'success', failover_count: 0 });
    await Bun.sleep(2100);
    await post(apiKey);
    expect(usedKeys().at(-1)).toBe(FIRST);
  });

  test('a stored key is used at once by every process, and leaves at once', async () => {
    const { apiKey } = await newKey();
    const { id } = await admin<{ id: string }>('/providers/openai/keys', { method: 'POST', body: { key: STORED } });
    for (const gateway of replicas) {
      await expectUsed(apiKey, gateway, STORED);
      expect((await post(apiKey, gateway)).status).toBe(200);
    }
    await admin(`/providers/openai/keys/${id}`, { method: 'DELETE' });
    for (const gateway of replicas) await expectUsed(apiKey, gateway, FIRST);
  });

  /** From the very next request on, in every process. */
  async function expectUsed(apiKey: string, gateway: GatewayProcess, key: string): Promise<void> {
    await post(apiKey, gateway);
    expect(usedKeys().at(-1)).toBe(key);
  }

  test("a project's own key is for that project alone, and nobody else pays when it is refused", async () => {
    const one = await newKey();
    const other = await newKey();
    const body = { key: OWN, project_id: one.projectId };
    await admin('/providers/openai/keys', { method: 'POST', body });
    await post(one.apiKey);
    await post(other.apiKey);
    expect(usedKeys()).toEqual([OWN, FIRST]);
    world.upstream.control.setDefault({ status: 401, body: JSON.stringify({ error: { message: `Bad key ${OWN}` } }) });
    const refused = await post(one.apiKey);
    expect(refused.status).toBe(502);
    expect(new Set(usedKeys().slice(2))).toEqual(new Set([OWN]));
    world.upstream.control.setDefault({});
    expect((await post(other.apiKey)).status).toBe(200);
  });

  test('a provider added at run time answers, is priced, and goes again', async () => {
    const { apiKey } = await newKey();
    const settings = {
      name: 'house',
      base_url: world.upstream.baseUrl,
      key: STORED,
      headers: { 'X-Tenant': HEADER },
      models: [{ model: 'house-large', input_usd_per_million: 1, output_usd_per_million: 2 }],
    };
    await admin('/providers', { method: 'POST', body: settings });
    for (const model of ['house-large', 'house/house-large']) {
      const answer = await post(apiKey, world.gateway, model);
      expect(answer.status).toBe(200);
      const row = await logRow(world.gateway, answer.id);
      expect(row).toMatchObject({ provider: 'house', cost_estimated: false });
      expect(row.cost_usd).toBeCloseTo(0.00005, 9);
    }
    expect(world.upstream.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${STORED}`,
      'x-tenant': HEADER,
    });
    expect(await admin<{ ok: boolean }>('/providers/house/test', { method: 'POST', body: {} })).toMatchObject({
      ok: true,
    });
    await admin('/providers/house', { method: 'DELETE' });
    expect((await post(apiKey, world.gateway, 'house-large')).status).toBe(404);
  });

  test(
    'concurrent requests of a provider and of a key: split among the processes, and a place comes back',
    async () => {
      const { apiKey } = await newKey();
      const models = [{ model: 'slow', input_usd_per_million: 0, output_usd_per_million: 0 }];
      const settings = { name: 'narrow', base_url: world.upstream.baseUrl, key: STORED, models, max_concurrency: 4 };
      await admin('/providers', { method: 'POST', body: settings });
      const callers: AbortController[] = [];
      const begin = async (gateway: GatewayProcess) => {
        const caller = new AbortController();
        const body = ask('Hi', { model: 'narrow/slow', stream: true, x_fake: { hangAfter: 1 } });
        const answer = await postChat(gateway, apiKey, body, { signal: caller.signal });
        if (answer.status === 200) callers.push(caller);
        return answer.status;
      };
      const fill = async (gateway: GatewayProcess) => {
        for (let begun = 0; ; begun++) if ((await begin(gateway)) !== 200) return begun;
      };
      const leaveAll = () => {
        for (const caller of callers.splice(0)) caller.abort();
      };
      // Each process learns of the other with its next beat, and of a caller who left a little later.
      await until(async () => {
        leaveAll();
        const begun: number[] = [];
        for (const gateway of replicas) begun.push(await fill(gateway));
        return begun.every((count) => count === 4 / replicas.length);
      });
      const refused = await postChat(world.gateway, apiKey, ask('Hi', { model: 'narrow/slow' }));
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
      expect(await refused.json()).toMatchObject({
        error: { code: 'upstream_rate_limited', attempts: [{ provider: 'narrow', failure: 'concurrency_limit' }] },
      });
      const patient = await createTestKey(world.gateway, {
        project: { cache_enabled: false, queue_timeout_ms: 30_000 },
      });
      const wait = () => postChat(world.gateway, patient.apiKey, ask('Hi', { model: 'narrow/slow' }));
      let waiting = wait();
      const metrics = async () => (await fetch(`${world.gateway.url}/metrics`)).text();
      await until(async () => {
        if ((await metrics()).includes('llm0_requests_queued 1')) return true;
        // On a busy machine, a process takes itself for the only one for a while, and has more places.
        if (await Promise.race([waiting.then(() => true), Bun.sleep(20).then(() => false)])) {
          await (await waiting).text();
          await fill(world.gateway);
          waiting = wait();
        }
        return false;
      });
      leaveAll();
      const served = await waiting;
      expect([served.status, Number(served.headers.get('x-queued-ms')) > 0]).toEqual([200, true]);
      await served.text();
      await until(async () => (await post(apiKey, world.gateway, 'narrow/slow')).status === 200);

      await admin('/providers/narrow', { method: 'PATCH', body: { max_concurrency: null } });
      const { data } = await admin<{ data: { id: string }[] }>('/providers/narrow/keys', { method: 'GET' });
      const limited = { max_concurrency: replicas.length };
      await admin(`/providers/narrow/keys/${data[0]?.id}`, { method: 'PATCH', body: limited });
      await admin('/providers/narrow/keys', { method: 'POST', body: { key: OWN, name: 'second' } });
      await begin(world.gateway);
      expect(usedKeys().at(-1)).toBe(STORED);
      expect((await post(apiKey, world.gateway, 'narrow/slow')).status).toBe(200);
      expect(usedKeys().at(-1)).toBe(OWN);
      leaveAll();
      await admin('/providers/narrow', { method: 'DELETE' });
    },
    SETUP_MS,
  );

  testApart(
    'what is stored survives a restart',
    async () => {
      const { apiKey } = await newKey();
      const { id } = await admin<{ id: string }>('/providers/openai/keys', { method: 'POST', body: { key: STORED } });
      await world.restart('kill');
      replicas[0] = world.gateway;
      await post(apiKey);
      expect(usedKeys()).toEqual([STORED]);
      await admin(`/providers/openai/keys/${id}`, { method: 'DELETE' });
    },
    SETUP_MS,
  );

  test('no key in an answer, a log line, a URL, a row or a file', async () => {
    for (const path of [
      '/providers',
      '/audit?limit=1000',
      '/logs?limit=1000',
      '/system-logs',
      '/providers/openai/keys',
    ]) {
      await admin(path, { method: 'GET' });
    }
    for (const page of ['/metrics', '/healthz', '/readyz', '/cachez']) {
      said.push(await (await fetch(`${world.gateway.url}${page}`)).text());
    }
    said.push(...replicas.map((gateway) => gateway.output()));
    said.push(...world.upstream.requests.map(({ path }) => path));
    if (kind === 'embedded') said.push(...(await filesIn(world.gateway.dataDir)));
    for (const text of said) for (const secret of SECRETS) expect(text.includes(secret)).toBe(false);
  });
});

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 30_000;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`not so within 30 s: ${isSo}`);
    await Bun.sleep(50);
  }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'latin1').catch(() => '')));
}
