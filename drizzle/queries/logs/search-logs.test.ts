import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { OUTCOMES, outcomeOf } from '@llm0/core/errors/outcome';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import fc from 'fast-check';
import type { Database, Db } from '../../client';
import { QuestionTooLargeError } from '../stats/read/time-limit';
import { storeLogRecords } from './log-insert';
import { LOG_SORTS, type LogSort, NEWEST_FIRST } from './log-sorts';
import type { LogFilter, LogMatch } from './logs';
import { type LogPageRequest, searchLogs } from './search-logs';
import { countRows, searchAndCount, tallyLogs } from './tally-logs';

const NOW_MS = Date.parse('2026-04-09T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

const pick = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const models = pick('a', 'B', 'ä', 'gpt-4o', 'gpt-4o-mini');
const statuses = pick('success', 'error', 'rate_limited', 'aborted');
const providers = pick('alpha', 'beta', 'gamma');
const customers = pick('Zoë', 'acme', 'Acme', '\u{1f600}');
const teams = pick('t1', 't2', '"quoted"');

/** Few different values, so that many rows have the same; over four days, many in the same millisecond. */
const row = fc.record({
  hoursAgo: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 96 })),
  model: models,
  status: statuses,
  httpStatus: pick(200, 429, 502),
  provider: fc.option(providers),
  finalProvider: fc.option(providers),
  customerId: fc.option(customers),
  team: fc.option(teams),
  errorCode: fc.option(pick('upstream_error', 'not_found')),
  latencyMs: pick(0.1, 1, 1.25, 300.125, 5000.333),
  ttftMs: fc.option(pick(0.3, 17, 1e-7)),
  costNanoUsd: pick(0, 1, 12_345, 9_000_000_000_000_001),
  tokensOut: pick(0, 7, 1_000_000),
  cacheHit: fc.boolean(),
  refusedCount: fc.option(pick(1, 12)),
});

const oneOrMore = <T>(one: fc.Arbitrary<T>) => fc.uniqueArray(one, { minLength: 1, maxLength: 3 });
const match = fc.record(
  {
    model: oneOrMore(models),
    status: oneOrMore(statuses),
    outcome: oneOrMore(pick(...OUTCOMES)),
    httpStatus: oneOrMore(pick('200', '429')),
    provider: oneOrMore(providers),
    customerId: oneOrMore(customers),
    errorCode: oneOrMore(pick('upstream_error')),
    cache: oneOrMore(pick('exact', 'miss')),
    labels: oneOrMore(teams).map((team) => ({ team })),
  },
  { requiredKeys: [] },
) satisfies fc.Arbitrary<LogMatch>;
/** Seldom more than one or two at once: most rows would be gone. */
const few = match.map((all) => Object.fromEntries(Object.entries(all).slice(0, 2)) as typeof all);
const question = fc.record({
  filter: fc.oneof(fc.constant({}), few),
  not: fc.oneof(fc.constant({}), few),
  from: fc.option(fc.integer({ min: 0, max: 96 })),
  sort: pick(...LOG_SORTS),
  limit: fc.integer({ min: 1, max: 40 }),
});

type Match = LogMatch & { readonly labels?: { readonly team: readonly string[] } };

/** The same filter, in plain words. */
function meets(record: LogRecord, one: Match): readonly boolean[] {
  const has = (values: unknown, value: unknown) => (values as readonly unknown[]).includes(value);
  const checks: Readonly<Record<string, (values: unknown) => boolean>> = {
    model: (values) => has(values, record.model) || has(values, record.requestedModel),
    status: (values) => has(values, record.status),
    outcome: (values) => has(values, outcomeOf(record.status, record.errorCode ?? null)),
    httpStatus: (values) => has(values, String(record.httpStatus)),
    provider: (values) => has(values, record.finalProvider ?? record.provider),
    customerId: (values) => has(values, record.customerId),
    errorCode: (values) => has(values, record.errorCode),
    cache: (values) => has(values, record.cacheHit ? 'exact' : 'miss'),
    labels: (values) => has((values as { team: unknown }).team, record.labels?.team),
  };
  return Object.entries(one).map(([name, values]) => checks[name]?.(values) === true);
}

const VALUES: Readonly<Record<string, (record: LogRecord) => string | number | null | undefined>> = {
  latency_ms: (record) => record.latencyMs,
  ttft_ms: (record) => record.ttftMs,
  overhead_ms: (record) => record.overheadMs,
  upstream_ms: (record) => record.upstreamMs,
  cost_usd: (record) => record.costNanoUsd,
  saved_usd: (record) => record.savedNanoUsd,
  tokens_in: (record) => record.tokensIn,
  tokens_out: (record) => record.tokensOut,
  tokens_total: (record) => record.tokensIn + record.tokensOut,
  http_status: (record) => record.httpStatus,
  status: (record) => record.status,
  error_code: (record) => record.errorCode,
  model: (record) => record.model,
  provider: (record) => record.finalProvider ?? record.provider,
  customer_id: (record) => record.customerId,
};

/** As the rules say, without a database. */
function sorted(records: readonly LogRecord[], sort: LogSort): readonly LogRecord[] {
  const newestFirst = (a: LogRecord, b: LogRecord) => b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1);
  if (sort === 'created_at') return records.toSorted((a, b) => newestFirst(b, a));
  if (sort === '-created_at') return records.toSorted(newestFirst);
  const value = VALUES[sort.replace('-', '')];
  const sign = sort.startsWith('-') ? -1 : 1;
  const compare = (a: string | number, b: string | number) =>
    typeof a === 'number' ? a - Number(b) : Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
  return records.toSorted((one, other) => {
    const [a, b] = [value?.(one) ?? null, value?.(other) ?? null];
    if (a === null || b === null) return Number(a === null) - Number(b === null) || newestFirst(one, other);
    return sign * compare(a, b) || newestFirst(one, other);
  });
}

describe.each(TEST_DATABASES)('searching the log on $name', (kind) => {
  let database: Database;
  let db: Db;
  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
  }, 60_000);
  afterAll(() => database.close());

  async function pagesOf(filter: LogFilter, sort: LogSort | undefined, limit: number): Promise<readonly string[]> {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await searchLogs(db, filter, { limit, cursor, sort }, NOW_MS);
      expect(page.partialFromMs).toBeUndefined();
      expect(page.data.length).toBeLessThanOrEqual(limit);
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    return ids;
  }

  test('pages put together are the whole sorted list, without doubles or gaps, and the count is its length', async () => {
    const rows = fc.array(row, { minLength: 30, maxLength: 120 });
    await fc.assert(
      fc.asyncProperty(rows, fc.array(question, { minLength: 12, maxLength: 12 }), async (given, questions) => {
        const projectId = crypto.randomUUID();
        const records = given.map(({ hoursAgo, team, ...fields }) => {
          const known = Object.entries(fields).filter(([, value]) => value !== null);
          const own = {
            finalProvider: undefined,
            provider: undefined,
            ttftMs: undefined,
            requestedModel: fields.model,
          };
          return sampleRecord({
            ...own,
            ...Object.fromEntries(known),
            ...{ projectId, createdAtMs: NOW_MS - hoursAgo * HOUR_MS },
            ...(team === null ? {} : { labels: { team } }),
          });
        });
        await storeLogRecords(
          db,
          records.map((record) => JSON.stringify(record)),
        );
        for (const { filter, not, from, sort, limit } of questions) {
          const fromMs = from === null ? undefined : NOW_MS - from * HOUR_MS;
          const wanted = sorted(
            records.filter(
              (record) =>
                record.createdAtMs >= (fromMs ?? 0) &&
                meets(record, filter).every(Boolean) &&
                !meets(record, not).some(Boolean),
            ),
            sort,
          );
          const asked: LogFilter = { ...filter, not, projectId, fromMs };
          expect(await pagesOf(asked, sort, limit)).toEqual(wanted.map(({ id }) => id));
          expect(await countRows(db, { filter: asked, nowMs: NOW_MS })).toEqual({ rows: wanted.length });
          const tally = await tallyLogs(db, { filter: asked, intervalMs: HOUR_MS, nowMs: NOW_MS });
          expect(tally.rows).toBe(wanted.length);
          const requests = wanted.reduce((sum, record) => sum + (record.refusedCount ?? 1), 0);
          expect(tally.buckets.reduce((sum, bucket) => sum + bucket.requests, 0)).toBe(requests);
        }
      }),
      { numRuns: 4, seed },
    );
  }, 60_000);

  test('many values and a missing one are found whichever way they are asked for', async () => {
    const projectId = crypto.randomUUID();
    const apiKeyId = crypto.randomUUID();
    const made = [{ customerId: 'a' }, { customerId: 'b' }, {}].map((fields, index) =>
      sampleRecord({ projectId, apiKeyId, createdAtMs: NOW_MS - index, ...fields }),
    );
    await storeLogRecords(
      db,
      made.map((record) => JSON.stringify(record)),
    );
    const find = async (filter: LogFilter) =>
      (await pagesOf({ projectId, ...filter }, undefined, 1)).map((id) => made.findIndex((one) => one.id === id));
    expect(await find({ customerId: ['a', 'b'] })).toEqual([0, 1]);
    expect(await find({ not: { customerId: 'a' } })).toEqual([1, 2]);
    expect(await find({ apiKeyId: [apiKeyId, crypto.randomUUID()] })).toEqual([0, 1, 2]);
    expect(await find({ not: { apiKeyId } })).toEqual([]);
  });

  test('a slow sort reports its range, and the next page misses no rows', async () => {
    const projectId = crypto.randomUUID();
    const apiKeyId = crypto.randomUUID();
    const made = [3, 1, 2].map((latencyMs, day) =>
      sampleRecord({ projectId, apiKeyId, latencyMs, createdAtMs: NOW_MS - day * 24 * HOUR_MS }),
    );
    await storeLogRecords(
      db,
      made.map((record) => JSON.stringify(record)),
    );
    const filter: LogFilter = { apiKeyId, fromMs: NOW_MS - 90 * HOUR_MS, toMs: NOW_MS + 1 };
    const search = (page: Partial<LogPageRequest>) => searchLogs(db, filter, { limit: 1, ...page }, NOW_MS);
    expect(await search({ sort: '-latency_ms', limitMs: 0 })).toEqual({
      ...{ data: [], nextCursor: null },
      partialFromMs: NOW_MS + 1,
    });
    const first = await search({ sort: '-latency_ms' });
    const next = { sort: '-latency_ms', cursor: first.nextCursor ?? '' } as const;
    await expect(search({ ...next, limitMs: 0 })).rejects.toBeInstanceOf(QuestionTooLargeError);
    expect((await search(next)).data[0]?.id).toBe(made[2]?.id ?? '');
    for (const sort of ['created_at', '-created_at'] as const) {
      const late = await search({ sort, limitMs: 0 });
      expect(late.data).toEqual([]);
      const rest = await search({ sort, limit: 5, cursor: late.nextCursor ?? '' });
      expect(rest.data.length).toBe(3);
    }
  });

  test('a count beside a page: of the page itself where that has all, else of the rows, never fewer than are shown', async () => {
    const projectId = crypto.randomUUID();
    const made = [0, 1, 2].map((hour) => sampleRecord({ projectId, createdAtMs: NOW_MS - hour * HOUR_MS }));
    await storeLogRecords(
      db,
      made.map((record) => JSON.stringify(record)),
    );
    const filter: LogFilter = { projectId, httpStatus: '200', fromMs: NOW_MS - 90 * HOUR_MS, toMs: NOW_MS + 1 };
    let counts = 0;
    const counting = new Proxy(db, {
      get: (target, name) => {
        if (name === 'transaction') counts++;
        return Reflect.get(target, name);
      },
    });
    const both = async (page: Partial<LogPageRequest>) => {
      counts = 0;
      const { count } = await searchAndCount(counting, filter, { page: { limit: 50, ...page }, nowMs: NOW_MS });
      return { ...count, counts };
    };
    await searchLogs(counting, filter, { limit: 50 }, NOW_MS);
    const alone = counts;
    expect(await both({})).toEqual({ rows: 3, counts: alone });
    const beside = await both({ limit: 1 });
    expect(beside.rows).toBe(3);
    expect(beside.counts).toBeGreaterThan(alone);
    expect((await both({ limitMs: 0 })).rows).toBe(3);
    const { nextCursor } = await searchLogs(db, filter, { limit: 2 }, NOW_MS);
    expect((await both({ limit: 2, cursor: nextCursor ?? '' })).rows).toBe(3);
  });

  test('a cursor of another sort, or a made up one, is refused', async () => {
    const projectId = crypto.randomUUID();
    const two = [1, 2].map((latencyMs) => sampleRecord({ projectId, latencyMs, createdAtMs: NOW_MS }));
    await storeLogRecords(
      db,
      two.map((record) => JSON.stringify(record)),
    );
    const first = await searchLogs(db, { projectId }, { limit: 1, sort: '-latency_ms' }, NOW_MS);
    const cursor = first.nextCursor ?? '';
    const given = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    const bent = (at: number, value: unknown) =>
      Buffer.from(JSON.stringify(given.with(at, value))).toString('base64url');
    const attempts: readonly [LogSort, string][] = [
      [NEWEST_FIRST, cursor],
      ['latency_ms', cursor],
      ['-latency_ms', `${cursor.slice(0, -4)}`],
      ['-latency_ms', bent(1, "1'; drop table x")],
      ['-latency_ms', bent(1, 'NaN')],
      ['-latency_ms', bent(2, 1e300)],
      ['-latency_ms', bent(3, 'x')],
      ['-latency_ms', bent(4, 'x')],
    ];
    for (const [sort, at] of attempts) {
      const asked = searchLogs(db, { projectId }, { limit: 1, sort, cursor: at }, NOW_MS);
      await expect(asked).rejects.toMatchObject({ kind: 'invalid_request', param: 'cursor' });
    }
  });
});
