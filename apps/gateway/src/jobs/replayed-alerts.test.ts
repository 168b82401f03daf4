// The preview of an alert says what the job would have done: both see the same requests, minute by minute.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { AlertKind } from '@llm0/core/alerts/condition';
import { createKeySecret } from '@llm0/core/keys/api-key';
import { rotatingSeed } from '@llm0/core/limits/rotating-seed.fixture';
import type { Database } from '@llm0/drizzle/client';
import { keyRows } from '@llm0/drizzle/queries/access/api-keys';
import { projectRows } from '@llm0/drizzle/queries/access/projects';
import { alertRows, type StoredAlert } from '@llm0/drizzle/queries/alerts';
import { putCustomerLimits } from '@llm0/drizzle/queries/limits/customer-limits';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { systemLogRows } from '@llm0/drizzle/queries/logs/system-logs';
import { replayAlert } from '@llm0/drizzle/queries/stats/read/replay-alert';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { checkAlerts } from './check-alerts';
import type { JobContext } from './job';

const MINUTE_MS = 60_000;
/** A day and a month end in the middle. */
const START_MS = Date.UTC(2026, 2, 31, 23, 40);
const MINUTES = 45;
const RULES: readonly (readonly [AlertKind, threshold: number, windowMinutes: number])[] = [
  ['error_rate', 0.35, 5],
  ['error_rate', 0.5, 3],
  ['latency_p95', 700, 4],
  ['latency_p95', 900, 90],
  ['spend', 0.5, 7],
  ['spend', 3, 120],
  ['budget_share', 0.3, 15],
  ['budget_share', 0.9, 15],
  ['job_failed', 1, 6],
  ['guardrail_hits', 4, 5],
  ['error_budget_burn', 20, 12],
  ['error_budget_burn', 35, 24],
];
const FOUND = { rule: 'mail', on: 'input', part: 'user', check: 'pii', action: 'block', count: 1, ms: 1 } as const;
const seed = rotatingSeed('alerts replayed');

/** Mulberry32: the same numbers for the same seed. */
function randomOf(state: number): () => number {
  let at = state;
  return () => {
    at = (at + 0x6d2b79f5) | 0;
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe.each(TEST_DATABASES)('alerts replayed on $name', (kind) => {
  let database: Database;
  const alerts: StoredAlert[] = [];
  beforeAll(async () => {
    database = await kind.openOwn();
  }, 60_000);
  afterAll(async () => {
    // Nothing is left to fire in tests after these.
    for (const { id } of alerts) await alertRows.delete(database.db, { id });
    await database.close();
  });

  /** A project with caps of every sort, its keys and customers. */
  async function setUp() {
    const { db } = database;
    const { id: projectId } = await projectRows.create(db, { name: 'replayed', monthlyCapNanoUsd: 8_000_000_000 });
    const keyOf = (budgetPeriod: 'total' | 'month') =>
      keyRows.create(db, {
        ...{ projectId, name: budgetPeriod, hash: createKeySecret().hash, prefix: 'x' },
        ...{ budgetNanoUsd: 4_000_000_000, budgetPeriod },
      });
    const keys = [(await keyOf('total')).id, (await keyOf('month')).id];
    const limits = {
      dailySpendLimitNanoUsd: 1_500_000_000,
      monthlySpendLimitNanoUsd: null,
      perRequestMaxNanoUsd: null,
    };
    await putCustomerLimits(
      db,
      { projectId, customerId: 'ann' },
      {
        ...limits,
        ...{ requestsPerMinute: null, requestsPerHour: null, requestsPerDay: null, modelLimits: {} },
        ...{ onLimitBehavior: 'block', downgradeModel: null },
      },
    );
    for (const [alertKind, threshold, windowMinutes] of RULES) {
      const webhookUrl = 'https://hooks.example.test/';
      const name = `${alertKind} ${threshold}`;
      const isActive = true;
      alerts.push(
        await alertRows.create(db, {
          name,
          kind: alertKind,
          threshold,
          windowMinutes,
          projectId,
          webhookUrl,
          isActive,
        }),
      );
    }
    return { projectId, keys };
  }

  test('the job did what the preview says', async () => {
    const { db } = database;
    const random = randomOf(seed);
    const { projectId, keys } = await setUp();
    const told: string[] = [];
    const last = new Map<string, string>();
    let nowMs = START_MS;
    const job = checkAlerts(async (_, body) => {
      const { event, alert } = body as { event: string; alert: { name: string } };
      // Tests beside this one have alerts, too.
      if (!alerts.some(({ name }) => name === alert.name)) return;
      // Further budgets and levels are told while it fires.
      if (last.get(alert.name) === event) return;
      last.set(alert.name, event);
      told.push(`${alert.name} ${event} ${new Date(nowMs).toISOString()}`);
    });
    for (let minute = 0; minute < MINUTES; minute++) {
      // Troubles come in stretches, as they do.
      const isBad = Math.floor(minute / 6) % 2 === 1;
      const count = Math.floor(random() * 7);
      const record = () =>
        sampleRecord({
          ...{
            projectId,
            apiKeyId: keys[Math.floor(random() * 2)] ?? '',
            createdAtMs: nowMs + Math.floor(random() * MINUTE_MS),
          },
          ...{ customerId: random() < 0.5 ? 'ann' : 'bob', costNanoUsd: Math.floor(random() * 120_000_000) },
          // Providers answer two of three, and the cache others.
          ...(random() < 0.33 ? { latencyMs: 1, cacheHit: true } : { latencyMs: random() * (isBad ? 1500 : 500) }),
          ...(random() < (isBad ? 0.5 : 0.1) ? { guardrails: [FOUND] } : {}),
          ...(random() < (isBad ? 0.6 : 0.2) ? { status: 'error', errorCode: 'upstream_error', httpStatus: 502 } : {}),
        });
      await insertLogRecords(db, Array.from({ length: count }, record));
      if (random() < 0.1) {
        const createdAtMs = nowMs + Math.floor(random() * MINUTE_MS);
        const entry = { eventType: 'clean_up', outcome: 'error', durationMs: 1, message: 'no', metadata: {} } as const;
        await systemLogRows.create(db, { ...entry, createdAtMs });
      }
      nowMs += MINUTE_MS;
      await job.run({ db, nowMs: () => nowMs } as JobContext);
    }
    const said: string[] = [];
    for (const { name, kind: alertKind, threshold, windowMinutes } of alerts) {
      const range = { fromMs: START_MS + MINUTE_MS, toMs: nowMs, nowMs, projectId };
      const { firings, fromMs } = await replayAlert(db, { kind: alertKind, threshold, windowMinutes, ...range });
      expect(fromMs).toBe(range.fromMs);
      for (const firing of firings) {
        said.push(`${name} alert_firing ${new Date(firing.fromMs).toISOString()}`);
        if (firing.toMs !== null) said.push(`${name} alert_resolved ${new Date(firing.toMs).toISOString()}`);
      }
    }
    expect(said.sort()).toEqual(told.sort());
    expect(told.length).toBeGreaterThan(3);
  }, 60_000);
});
