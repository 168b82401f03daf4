import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createTestKey } from '../stores/start-gateway';
import {
  allLogs,
  ask,
  postChat,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';

const SETUP_MS = 60_000;
const REQUESTS_PER_SECOND = 500;
const TICK_MS = 20;
const STREAMS = 50;

const requestsIn = (metrics: string): number =>
  [...metrics.matchAll(/^llm0_requests_total\{[^}]*\} (\d+)$/gm)].reduce((sum, m) => sum + Number(m[1]), 0);

describe('two workers on one port', () => {
  let world: TestEnvironment;
  beforeAll(async () => {
    world = await shareEnvironment({ kind: 'real', env: { GATEWAY_WORKERS: '2', LOG_LEVEL: 'info' } });
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

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

  test(`a rolling restart under ${REQUESTS_PER_SECOND} req/s and ${STREAMS} open streams: nothing fails, nothing is cut`, async () => {
    const { gateway } = world;
    const { apiKey, projectId } = await createTestKey(gateway, { project: { cache_enabled: false } });
    const streams = Array.from({ length: STREAMS }, async (_, number) => {
      const answer = await postChat(
        gateway,
        apiKey,
        ask(`long ${number}`, { stream: true, x_fake: { chunks: 100, gapMs: 30 } }),
      );
      const text = await answer.text();
      return answer.status === 200 && text.trimEnd().endsWith('data: [DONE]');
    });
    const failures: string[] = [];
    let asked = 0;
    let running = true;
    const one = async (number: number) => {
      try {
        const answer = await postChat(gateway, apiKey, ask(`short ${number}`));
        const body = await answer.text();
        if (answer.status !== 200) failures.push(`${answer.status} ${body.slice(0, 200)}`);
      } catch (error) {
        failures.push(String(error));
      }
    };
    const load = (async () => {
      const inFlight = new Set<Promise<void>>();
      while (running) {
        for (let i = 0; i < (REQUESTS_PER_SECOND * TICK_MS) / 1000; i++) {
          const request = one(asked++);
          inFlight.add(request);
          void request.finally(() => inFlight.delete(request));
        }
        await Bun.sleep(TICK_MS);
      }
      await Promise.all(inFlight);
    })();
    await Bun.sleep(500);
    process.kill(gateway.pid, 'SIGUSR2');
    await waitUntil(() => (gateway.output().match(/"stopped"/g) ?? []).length === 2, 150_000);
    await Bun.sleep(500);
    running = false;
    await load;
    expect(failures).toEqual([]);
    expect(await Promise.all(streams)).toEqual(Array.from({ length: STREAMS }, () => true));
    const ledger = await settledLedger(gateway);
    expect([ledger.ok, ledger.open_holds]).toEqual([true, 0]);
    expect(await allLogs(gateway, `project_id=${projectId}`)).toHaveLength(asked + STREAMS);
  }, 240_000);
});
