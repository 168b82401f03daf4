import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Database } from '@llm0/drizzle/client';
import { projectRows } from '@llm0/drizzle/queries/access/projects';
import { type AlertSettings, alertRows, listActiveAlerts } from '@llm0/drizzle/queries/alerts';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { checkAlerts } from './check-alerts';
import type { JobContext } from './job';

const FOUND = { rule: 'mail', on: 'input', part: 'user', check: 'pii', action: 'block', count: 1, ms: 1 } as const;

describe.each(TEST_DATABASES)('alerts on $name', (kind) => {
  let database: Database;
  let projectId: string;
  const nowMs = Date.now();
  const calls: { url: string; body: { event: string; text: string; value: number } }[] = [];
  let webhookFails = false;
  const job = checkAlerts(async (url, body) => {
    if (webhookFails) throw new Error('no route');
    calls.push({ url, body: body as (typeof calls)[number]['body'] });
  });

  beforeAll(async () => {
    database = await kind.open();
    // Tests before these share the embedded one, and the job looks at all alerts there are.
    for (const { id } of await listActiveAlerts(database.db)) await alertRows.delete(database.db, { id });
    projectId = (await projectRows.create(database.db, { name: 'watched', monthlyCapNanoUsd: 1_000_000_000 })).id;
    await insertLogRecords(
      database.db,
      Array.from({ length: 10 }, (_, index) =>
        sampleRecord({
          projectId,
          createdAtMs: nowMs - 60_000,
          costNanoUsd: 90_000_000,
          latencyMs: 500,
          ...(index < 3 ? { guardrails: [FOUND] } : {}),
          ...(index < 4 ? { status: 'error', errorCode: 'upstream_error', httpStatus: 502 } : {}),
        }),
      ),
    );
  }, 60_000);
  afterAll(() => database.close());

  const run = (atMs = nowMs) => job.run({ db: database.db, nowMs: () => atMs } as JobContext);
  const alertOf = (given: Partial<AlertSettings>) =>
    alertRows.create(database.db, {
      name: 'watch',
      kind: 'spend',
      threshold: 1,
      windowMinutes: 15,
      projectId,
      webhookUrl: 'https://hooks.example.test/',
      isActive: true,
      ...given,
    });

  test.each([
    ['budget_share', 0.8, 0.95, /90\.0 % of the month budget of project watched/],
    ['error_rate', 0.3, 0.5, /40\.0 % of 10 requests failed/],
    ['latency_p95', 400, 600, /p95 latency is (49|50|51)\d ms/],
    ['spend', 0.5, 1, /\$0\.90 was spent/],
    ['guardrail_hits', 3, 4, /guardrails found something 3 times/],
  ] as const)('%s fires at its threshold, not below it', async (alertKind, low, high, text) => {
    calls.length = 0;
    const fires = await alertOf({ kind: alertKind, threshold: low });
    const quiet = await alertOf({ kind: alertKind, threshold: high });
    expect((await run())?.message).toMatch(text);
    expect(calls.map((call) => call.body.event)).toEqual(['alert_firing']);
    expect(calls[0]?.body.text).toMatch(text);
    expect(await alertRows.get(database.db, { id: fires.id })).toMatchObject({ isFiring: true, changedAtMs: nowMs });
    expect(await run()).toBeNull();
    for (const { id } of [fires, quiet]) await alertRows.delete(database.db, { id });
  });

  test('what is over is told too, once', async () => {
    calls.length = 0;
    const alert = await alertOf({ kind: 'spend', threshold: 0.5 });
    await run();
    await run(nowMs + 3_600_000);
    await run(nowMs + 3_600_000);
    expect(calls.map((call) => call.body.event)).toEqual(['alert_firing', 'alert_resolved']);
    await alertRows.delete(database.db, { id: alert.id });
  });

  test('a webhook that cannot be told is told at the next check', async () => {
    calls.length = 0;
    const alert = await alertOf({ kind: 'spend', threshold: 0.5 });
    webhookFails = true;
    expect(await run()).toBeNull();
    expect(await alertRows.get(database.db, { id: alert.id })).toMatchObject({
      isFiring: false,
      lastError: 'no route',
    });
    webhookFails = false;
    await run();
    expect(calls.length).toBe(1);
    expect(await alertRows.get(database.db, { id: alert.id })).toMatchObject({ isFiring: true, lastError: null });
    await alertRows.delete(database.db, { id: alert.id });
  });
});
