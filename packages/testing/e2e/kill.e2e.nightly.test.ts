import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createTestKey } from '../stores/start-gateway';
import {
  allLogs,
  ask,
  postChat,
  STORE_KINDS,
  settledLedger,
  startEnvironment,
  type TestEnvironment,
} from './environment';

const KILLS = 10;
const CLIENTS = 16;
const SETUP_MS = 60_000;
/** Instead of 60 s: a killed request's hold is reaped when its lease has run out. */
const LEASE_MS = 3_000;
const SETTLE_MS = 60_000;

for (const kind of STORE_KINDS) {
  describe(`kill -9 on ${kind} stores`, () => {
    let world: TestEnvironment;
    beforeAll(async () => {
      world = await startEnvironment({ kind, env: { LLM0_TEST_LEASE_MS: String(LEASE_MS) } });
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);

    test(
      `${KILLS} kills under load: every answer has one row, counters agree, no hold remains`,
      async () => {
        const { apiKey, projectId } = await createTestKey(world.gateway);
        const answered = new Map<string, number>();
        let running = true;
        let number = 0;
        const client = async () => {
          while (running) {
            const stream = number % 3 === 0;
            try {
              // Every client has a request under way all the time, in whichever state a kill finds it.
              const x_fake = { firstDelayMs: (number * 7) % 60 };
              const answer = await postChat(world.gateway, apiKey, ask(`question ${number++}`, { stream, x_fake }));
              const text = await answer.text();
              const whole = stream ? text.includes('data: [DONE]') : text.endsWith('}');
              if (whole) answered.set(answer.headers.get('x-request-id') ?? '', answer.status);
            } catch {
              await Bun.sleep(5);
            }
          }
        };
        const clients = Array.from({ length: CLIENTS }, client);
        for (let kill = 0; kill < KILLS; kill++) {
          await Bun.sleep(300 + Math.random() * 300);
          await world.restart('kill');
        }
        await Bun.sleep(300);
        running = false;
        await Promise.all(clients);
        const ledger = await settledLedger(world.gateway, SETTLE_MS);
        expect(ledger.open_holds).toBe(0);
        expect(ledger.queue_depth).toBe(0);
        expect(ledger.projects.filter((project) => project.diff_usd !== 0)).toEqual([]);
        const rows = await allLogs(world.gateway, `project_id=${projectId}`);
        const perRequest = new Map<string, number>();
        for (const row of rows) perRequest.set(row.request_id, (perRequest.get(row.request_id) ?? 0) + 1);
        expect([...perRequest.values()].every((count) => count === 1)).toBe(true);
        expect([...answered.keys()].filter((id) => !perRequest.has(id))).toEqual([]);
        expect(answered.size).toBeGreaterThan(2 * KILLS);
      },
      SETTLE_MS + 60_000,
    );
  });
}
