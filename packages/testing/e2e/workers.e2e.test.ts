import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolder } from '../stores/server-process';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ask, postChat, settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';
import { testApart } from './test-apart';

const SETUP_MS = 60_000;
const CONFIG = join(temporaryFolder('workers'), 'gateway.yaml');
const describeProject = (capUsd: number) =>
  Bun.write(CONFIG, `version: 1\nprojects: [{name: from-file, monthly_cap_usd: ${capUsd}}]`);

const requestsIn = (metrics: string): number =>
  [...metrics.matchAll(/^llm0_requests_total\{[^}]*\} (\d+)$/gm)].reduce((sum, m) => sum + Number(m[1]), 0);

describe('two workers on one port', () => {
  let world: TestEnvironment;
  beforeAll(async () => {
    await describeProject(1);
    const env = { GATEWAY_WORKERS: '2', LOG_LEVEL: 'info', GATEWAY_CONFIG: CONFIG };
    world = await shareEnvironment({ kind: 'real', apart: true, env });
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  test('one of them applies GATEWAY_CONFIG, at the start and on SIGHUP', async () => {
    const { gateway } = world;
    const caps = async () => {
      const { data } = await callAdmin<{ data: { name: string; monthly_cap_usd: number }[] }>(gateway, '/projects');
      return data.filter(({ name }) => name === 'from-file').map((project) => project.monthly_cap_usd);
    };
    const applied = () => (gateway.output().match(/GATEWAY_CONFIG is applied/g) ?? []).length;
    expect([await caps(), applied()]).toEqual([[1], 1]);
    await describeProject(2);
    process.kill(gateway.pid, 'SIGHUP');
    await waitUntil(() => applied() === 2);
    expect([await caps(), gateway.isRunning()]).toEqual([[2], true]);
  });

  test('both serve, and /metrics speaks for both', async () => {
    const { gateway } = world;
    const { apiKey } = await createTestKey(gateway, { project: { cache_enabled: false } });
    for (let i = 0; i < 40; i++) {
      // A connection each: the kernel spreads connections, not requests, over the workers.
      const answer = await postChat(gateway, apiKey, ask(`spread ${i}`), { headers: { connection: 'close' } });
      expect(answer.status).toBe(200);
    }
    expect(requestsIn(await (await fetch(`${gateway.url}/metrics`)).text())).toBe(40);
  });

  test('/metrics repeats the last values of a slow worker', async () => {
    const { gateway } = world;
    const before = requestsIn(await (await fetch(`${gateway.url}/metrics`)).text());
    expect(before).toBeGreaterThan(0);
    const children = await Bun.file(`/proc/${gateway.pid}/task/${gateway.pid}/children`).text();
    const stopped = Number(children.split(' ')[0]);
    process.kill(stopped, 'SIGSTOP');
    const answered = new AbortController();
    const { signal } = answered;
    try {
      // Whoever is given to the stopped one waits in vain.
      const asked = Array.from({ length: 12 }, async () =>
        (await fetch(`${gateway.url}/metrics`, { headers: { connection: 'close' }, signal })).text(),
      );
      expect(requestsIn(await Promise.any(asked))).toBe(before);
    } finally {
      answered.abort();
      process.kill(stopped, 'SIGCONT');
    }
  }, 60_000);

  testApart(
    'a rolling restart cuts no stream',
    async () => {
      const { gateway } = world;
      const { apiKey } = await createTestKey(gateway);
      const streams = Array.from({ length: 8 }, async (_, number) => {
        const body = ask(`long ${number}`, { stream: true, x_fake: { chunks: 30, gapMs: 30 } });
        return (await (await postChat(gateway, apiKey, body)).text()).trimEnd().endsWith('data: [DONE]');
      });
      await waitUntil(() => world.upstream.requests.length >= 8);
      process.kill(gateway.pid, 'SIGUSR2');
      expect(await Promise.all(streams)).toEqual(streams.map(() => true));
      await waitUntil(() => (gateway.output().match(/"stopped"/g) ?? []).length === 2, 60_000);
      expect((await postChat(gateway, apiKey, ask('after'))).status).toBe(200);
      expect(await settledLedger(gateway)).toMatchObject({ ok: true, open_holds: 0 });
    },
    90_000,
  );
});
