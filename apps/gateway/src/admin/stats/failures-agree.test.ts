import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ERROR_TABLE } from '@llm0/core/errors/error-table';
import { OUTCOMES, type Outcome, outcomeOf, STATUSES } from '@llm0/core/errors/outcome';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { StoredAlert } from '@llm0/drizzle/queries/alerts';
import { listBatchCounts } from '@llm0/drizzle/queries/logs/log-batches';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { ALL_WELL, MEASURES } from '../../jobs/measure-alert';
import { type AdminUnderTest, openAdmin, storeRecords } from '../admin.fixture';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Every error code there is, and answers: over minutes, hours and days, so that rows and roll-ups are read. */
const AGO_MS = [2 * MINUTE_MS, 3 * HOUR_MS, 30 * HOUR_MS, 4 * 24 * HOUR_MS];
const KINDS = [
  ...Object.entries(ERROR_TABLE).map(([errorCode, { logStatus }]) => ({ errorCode, status: logStatus })),
  ...Array.from({ length: 5 }, () => ({ status: 'success' as const })),
  { status: 'error' as const },
];

describe.each(TEST_DATABASES)('pages agree on what failed, on $name', (kind) => {
  let admin: AdminUnderTest;
  let projectId: string;
  const nowMs = Date.now();
  const apiKeyId = crypto.randomUUID();
  let records: readonly LogRecord[];
  const counted = (of: readonly LogRecord[] = records): Readonly<Record<Outcome, number>> => {
    const outcomes = of.map((record) => outcomeOf(record.status, record.errorCode ?? null));
    return Object.fromEntries(
      OUTCOMES.map((one) => [one, outcomes.filter((outcome) => outcome === one).length]),
    ) as Record<Outcome, number>;
  };

  beforeAll(async () => {
    admin = await openAdmin(kind);
    projectId = (await admin.createProject({})).id;
    records = AGO_MS.flatMap((agoMs) =>
      KINDS.map((one) => sampleRecord({ projectId, apiKeyId, createdAtMs: nowMs - agoMs, ...one })),
    );
    await storeRecords(admin, [...records]);
  }, 60_000);
  afterAll(() => admin.close());

  const get = async (path: string) => {
    const { status, body } = await admin.call('GET', path);
    expect(status).toBe(200);
    return body;
  };
  const range = (hours: number) =>
    `project_id=${projectId}&from=${new Date(nowMs - hours * HOUR_MS).toISOString()}&to=${new Date(nowMs + 1).toISOString()}`;
  const within = (hours: number) => records.filter(({ createdAtMs }) => createdAtMs >= nowMs - hours * HOUR_MS);
  type Bucket = Readonly<Record<'requests' | 'success' | 'errors' | 'failures' | 'caller_errors', number>>;
  const add = (buckets: readonly Bucket[], name: keyof Bucket) => buckets.reduce((sum, one) => sum + one[name], 0);

  test.each([1, 24, 6 * 24])('cards, charts, models, lists and maps over %d h', async (hours) => {
    const { error, caller_error: callers, success } = counted(within(hours));
    const asked = range(hours);
    const overview = await get(`/stats/overview?${asked}`);
    expect(overview).toMatchObject({
      ...{ success, failures: error, caller_errors: callers, errors: error + callers },
      requests: within(hours).length,
    });
    const questions = [
      ...['interval=all', 'interval=1h', 'interval=5m', 'interval=all&group_by=provider', 'interval=1h&group_by=key'],
      ...['interval=all&group_by=target&top=200', `interval=1h&api_key_id=${apiKeyId}`],
    ];
    for (const question of questions) {
      const { buckets } = await get(`/stats/errors?${asked}&${question}`);
      const sums = [add(buckets, 'success'), add(buckets, 'failures'), add(buckets, 'caller_errors')];
      expect([question, ...sums]).toEqual([question, success, error, callers]);
    }
    const byStatus = await get(`/stats/errors?${asked}&interval=all&group_by=outcome`);
    const named = byStatus.buckets.map(({ group, requests }: { group: string; requests: number }) => [group, requests]);
    expect(Object.fromEntries(named)).toEqual(counted(within(hours)));
    const byCode = await get(`/stats/errors?${asked}&interval=all&group_by=error_code`);
    // A failure without a code has no bucket.
    const withCode = counted(within(hours).filter(({ errorCode }) => errorCode !== undefined));
    expect([add(byCode.buckets, 'failures'), add(byCode.buckets, 'caller_errors')]).toEqual([withCode.error, callers]);
    const flows = await get(`/stats/flows?${asked}`);
    expect(flows.data.reduce((sum: number, { failed }: { failed: number }) => sum + failed, 0)).toBe(error);
  });

  test('the list, its histogram and its filters', async () => {
    const asked = range(6 * 24);
    for (const status of OUTCOMES) {
      const { data, count } = await get(`/logs?${asked}&outcome=${status}&limit=200&count=true`);
      expect([status, count.rows]).toEqual([status, counted()[status]]);
      expect(new Set(data.map((row: { outcome: string }) => row.outcome))).toEqual(new Set([status]));
      expect((await get(`/stats/overview?${asked}&outcome=${status}`)).requests).toBe(counted()[status]);
    }
    for (const status of STATUSES) {
      const { data, count } = await get(`/logs?${asked}&status=${status}&limit=200&count=true`);
      const own = records.filter((record) => record.status === status).length;
      expect([status, count.rows]).toEqual([status, own]);
      expect(new Set(data.map((row: { status: string }) => row.status))).toEqual(new Set([status]));
      expect((await get(`/stats/overview?${asked}&status=${status}`)).requests).toBe(own);
    }
    const none = await get(`/logs?${asked}&outcome_not=error&count=true`);
    expect(none.count.rows).toBe(records.length - counted().error);
    const { buckets } = await get(`/logs/histogram?${asked}&interval=3600`);
    for (const status of OUTCOMES) {
      const own = buckets.filter((bucket: { outcome: string }) => bucket.outcome === status);
      expect([status, add(own, 'requests')]).toEqual([status, counted()[status]]);
    }
  });

  test('alerts and the live strip', async () => {
    const { error, success, caller_error: callers } = counted(within(1));
    const context = { db: admin.database.db, nowMs: () => nowMs, targets: () => [], stores: ALL_WELL };
    const measured = await MEASURES.error_rate(context, { projectId, windowMinutes: 15 } as StoredAlert);
    expect(measured?.value).toBeCloseTo(error / (error + success), 10);
    const { buckets } = await get(`/stats/errors?${range(1)}&interval=all`);
    expect(buckets[0].failure_rate).toBeCloseTo(measured?.value ?? Number.NaN, 10);
    await storeRecords(
      admin,
      KINDS.map((one) => sampleRecord({ projectId, ...one })),
    );
    const [batch] = (await listBatchCounts(admin.database.db, { seq: 0, sinceMs: nowMs - MINUTE_MS })).slice(-1);
    expect(batch).toMatchObject({ failed: error, callerErrors: callers });
  });
});
