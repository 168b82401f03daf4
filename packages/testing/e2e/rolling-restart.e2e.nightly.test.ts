import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createTestKey } from '../stores/start-gateway';
import {
  allLogs,
  ask,
  postChat,
  settledLedger,
  startEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';

const REQUESTS_PER_SECOND = 500;
const TICK_MS = 20;
const STREAMS = 50;

let world: TestEnvironment;
beforeAll(async () => {
  world = await startEnvironment({ kind: 'real', env: { GATEWAY_WORKERS: '2', LOG_LEVEL: 'info' } });
}, 60_000);
afterAll(() => world.close());

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
