import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { runs } from '@llm0/testing/lane';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import fc from 'fast-check';
import type { Database, Db } from '../../../client';
import { insertLogRecords } from '../../logs/log-insert';
import type { LogFilter } from '../../logs/logs';
import { searchLogs } from '../../logs/search-logs';
import { loadBuckets, loadOverview } from './load-stats';
import { type BucketQuery, SPEND_SUMS } from './questions';
import { splitByOne, splitRange } from './time-segments';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('ranges', () => {
  test('the stretches are the range, without gap or overlap, and only full buckets of roll-ups still kept', () => {
    const nowMs = Date.parse('2026-06-15T12:34:56.789Z');
    const sizes = {
      rows: 1,
      rollup_minute: 60_000,
      rollup_hour: HOUR_MS,
      rollup_day: DAY_MS,
    };
    const hours = 90 * DAY_MS;
    const kept = {
      rows: Infinity,
      rollup_minute: 48 * HOUR_MS,
      rollup_hour: hours,
      rollup_day: Infinity,
    };
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 89 * DAY_MS }),
        fc.integer({ min: 1, max: 89 * DAY_MS }),
        (agoMs, lengthMs) => {
          const fromMs = nowMs - agoMs;
          const toMs = Math.min(nowMs, fromMs + lengthMs);
          const segments = splitRange({ fromMs, toMs, nowMs });
          let at = fromMs;
          for (const segment of segments) {
            expect(segment.fromMs).toBe(at);
            expect(segment.fromMs % sizes[segment.source]).toBe(0);
            expect(segment.toMs % sizes[segment.source]).toBe(0);
            expect(segment.fromMs).toBeGreaterThan(nowMs - kept[segment.source]);
            at = segment.toMs;
          }
          expect(at).toBe(toMs);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test('up to an hour only rows are read; buckets use no coarser roll-up than they are', () => {
    const nowMs = Date.parse('2026-06-15T12:00:00Z');
    const sources = (hours: number, intervalMs?: number) =>
      new Set(
        splitRange({ fromMs: nowMs - hours * HOUR_MS, toMs: nowMs, nowMs, intervalMs }).map(({ source }) => source),
      );
    expect(sources(1)).toEqual(new Set(['rows']));
    expect(sources(24 * 10)).toEqual(new Set(['rollup_hour', 'rollup_day']));
    expect(sources(24 * 10, 12 * HOUR_MS)).toEqual(new Set(['rollup_hour']));
    expect(sources(24 * 10, HOUR_MS)).toEqual(new Set(['rollup_hour']));
    expect(sources(24, 60_000)).toEqual(new Set(['rollup_minute']));
    expect(sources(24, 90_000)).toEqual(new Set(['rows']));
  });
});

describe('ranges over one roll-up', () => {
  const nowMs = Date.parse('2026-06-15T12:34:56.789Z');
  const source = 'customer_spend';

  test('added minus removed rows give the range; only the current bucket loses rows', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 10 * DAY_MS }),
        fc.integer({ min: 1, max: 10 * DAY_MS }),
        (agoMs, lengthMs) => {
          const fromMs = nowMs - agoMs;
          const toMs = fromMs + lengthMs;
          let coveredMs = 0;
          for (const segment of splitByOne({ fromMs, toMs, nowMs, source, sizeMs: DAY_MS })) {
            coveredMs += (segment.toMs - segment.fromMs) * (segment.isLess === true ? -1 : 1);
            expect(segment.toMs).toBeGreaterThan(segment.fromMs);
            if (segment.source === source) expect([segment.fromMs % DAY_MS, segment.toMs % DAY_MS]).toEqual([0, 0]);
            if (segment.isLess === true) expect(segment.fromMs).toBe(toMs);
            if (segment.isLess !== true) continue;
            expect(toMs).toBeGreaterThan(nowMs - DAY_MS);
            if (toMs <= nowMs - HOUR_MS) expect(segment.toMs - toMs).toBeLessThan(DAY_MS / 2);
          }
          expect(coveredMs).toBe(lengthMs);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test('a range that ends now reads no rows of the day but those since', () => {
    const range = { fromMs: Date.parse('2026-06-08T00:00:00Z'), toMs: nowMs, nowMs: nowMs + 50 };
    expect(splitByOne({ ...range, source, sizeMs: DAY_MS })).toEqual([
      { source, fromMs: range.fromMs, toMs: Date.parse('2026-06-16T00:00:00Z') },
      { source: 'rows', fromMs: nowMs, toMs: Date.parse('2026-06-16T00:00:00Z'), isLess: true },
    ]);
  });
});

describe.each(TEST_DATABASES)('stats and logs on $name', (kind) => {
  let database: Database;
  let db: Db;
  const projectId = crypto.randomUUID();
  const nowMs = Date.parse('2030-03-20T15:30:00Z');
  const records = Array.from({ length: 400 }, (_, index): LogRecord => {
    const cacheHit = index % 7 === 0;
    const status = index % 11 === 0 ? 'error' : index % 13 === 0 ? 'rate_limited' : 'success';
    return sampleRecord({
      projectId,
      createdAtMs: nowMs - index * 1_234_567,
      model: `model-${index % 3}`,
      finalProvider: index % 5 === 0 ? 'beta' : 'alpha',
      customerId: index % 2 === 0 ? `customer-${index % 4}` : undefined,
      labels: index % 3 === 0 ? { team: `t${index % 2}` } : undefined,
      costNanoUsd: cacheHit ? 0 : 1_000 + index,
      savedNanoUsd: cacheHit ? 500 : 0,
      cacheHit,
      semanticCacheHit: index % 14 === 0,
      latencyMs: 1 + index * 3.7,
      ttftMs: index % 2 === 0 ? 1 + index : undefined,
      status,
      errorMessage: status === 'error' ? `boom 100% number_${index}` : undefined,
    });
  });
  const sum = (chosen: readonly LogRecord[], field: 'costNanoUsd' | 'savedNanoUsd' | 'tokensIn') =>
    chosen.reduce((total, record) => total + record[field], 0);

  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
    await insertLogRecords(db, records);
  }, 60_000);
  afterAll(() => database.close());

  test.each([
    ['half an hour', 0.5],
    ['an odd stretch', 7.321],
    ['two days', 48],
    ['everything', 24 * 7],
  ])('the overview of %s is exact, its percentiles within 2.5 %%', async (_name, hours) => {
    const fromMs = nowMs - hours * HOUR_MS + 1;
    const chosen = records.filter((record) => record.createdAtMs >= fromMs && record.createdAtMs < nowMs + 1);
    const overview = await loadOverview(db, { fromMs, toMs: nowMs + 1, nowMs: nowMs + 1, projectId });
    expect(overview).toMatchObject({
      requests: chosen.length,
      success: chosen.filter((record) => record.status === 'success').length,
      errors: chosen.filter((record) => record.status === 'error').length,
      costNanoUsd: sum(chosen, 'costNanoUsd'),
      savedNanoUsd: sum(chosen, 'savedNanoUsd'),
      tokensIn: sum(chosen, 'tokensIn'),
      exactHits: chosen.filter((record) => record.cacheHit && !record.semanticCacheHit).length,
      semanticHits: chosen.filter((record) => record.semanticCacheHit).length,
    });
    const sorted = chosen.map((record) => record.latencyMs).sort((a, b) => a - b);
    for (const [name, share] of [
      ['p50', 0.5],
      ['p95', 0.95],
      ['p99', 0.99],
    ] as const) {
      const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
      expect(Math.abs((overview.durations.latency[name] ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact * 0.025);
    }
  });

  test('an empty range is zero, with no percentiles', async () => {
    const overview = await loadOverview(db, { fromMs: nowMs + DAY_MS, toMs: nowMs + 2 * DAY_MS, nowMs, projectId });
    expect(overview).toMatchObject({ requests: 0, costNanoUsd: 0, durations: { latency: { p50: null } } });
  });

  test.each([
    ['model', (record: LogRecord) => record.model],
    ['provider', (record: LogRecord) => record.finalProvider ?? ''],
    ['target', (record: LogRecord) => `${record.finalProvider ?? ''}/${record.model}`],
    ['status', (record: LogRecord) => record.status],
    ['customer', (record: LogRecord) => record.customerId ?? ''],
    ['label.team', (record: LogRecord) => record.labels?.team ?? ''],
    ['project', (record: LogRecord) => record.projectId],
    ['key', (record: LogRecord) => record.apiKeyId],
  ] as const)('hourly buckets by %s add up', async (groupBy, groupOf) => {
    const range = { fromMs: nowMs - 100 * HOUR_MS, toMs: nowMs + 1, nowMs: nowMs + 1, projectId };
    const { buckets } = await loadBuckets(db, { ...range, intervalMs: HOUR_MS, groupBy, withDurations: true });
    const expected = new Map<string, number>();
    for (const record of records) {
      if (record.createdAtMs < range.fromMs) continue;
      const key = `${Math.floor(record.createdAtMs / HOUR_MS) * HOUR_MS} ${groupOf(record)}`;
      expected.set(key, (expected.get(key) ?? 0) + record.costNanoUsd);
    }
    expect(new Map(buckets.map((bucket) => [`${bucket.startMs} ${bucket.group}`, bucket.costNanoUsd]))).toEqual(
      expected,
    );
    expect(buckets.every((bucket) => bucket.durations?.latency.p95 !== null)).toBe(true);
  });

  describe('customers by day, from their roll-up', () => {
    const lastMs = Date.parse('2030-05-10T15:30:00Z');
    const projectId = crypto.randomUUID();
    const other = crypto.randomUUID();
    /** Of two projects; every third of no customer, and customers of both. Some are newer than the ranges asked for. */
    const spending = Array.from({ length: 300 }, (_, index) =>
      sampleRecord({
        projectId: index % 4 === 0 ? other : projectId,
        createdAtMs: lastMs + 1_200_000 - index * 1_812_345,
        customerId: index % 3 === 0 ? undefined : `c${index % 5}`,
        costNanoUsd: 1 + index * (index % 5),
        savedNanoUsd: index,
        tokensIn: 10 + index,
      }),
    );
    beforeAll(() => insertLogRecords(db, spending).then(() => {}));

    /** The same from the records themselves. */
    function expected(query: BucketQuery) {
      const { intervalMs, top = Number.POSITIVE_INFINITY } = query;
      const chosen = spending.filter(
        (one) =>
          one.createdAtMs >= query.fromMs &&
          one.createdAtMs < query.toMs &&
          (query.projectId === undefined || one.projectId === query.projectId),
      );
      const costs = new Map<string, number>();
      for (const { customerId = '', costNanoUsd } of chosen)
        costs.set(customerId, (costs.get(customerId) ?? 0) + costNanoUsd);
      const dearest = [...costs].sort(([, a], [, b]) => b - a).map(([name]) => name);
      const kept = new Set(dearest.slice(0, top));
      const sums = new Map<string, number[]>();
      for (const { createdAtMs, customerId = '', costNanoUsd, savedNanoUsd, tokensIn } of chosen) {
        const startMs = intervalMs === undefined ? query.fromMs : Math.floor(createdAtMs / intervalMs) * intervalMs;
        const key = `${startMs} ${kept.has(customerId) ? customerId : '(other)'}`;
        const [n = 0, cost = 0, saved = 0, tokens = 0] = sums.get(key) ?? [];
        sums.set(key, [n + 1, cost + costNanoUsd, saved + savedNanoUsd, tokens + tokensIn]);
      }
      return { sums, groups: costs.size };
    }

    const ENDS = {
      'just now': 0,
      'minutes ago': 20 * 60_000,
      'hours ago': 5 * HOUR_MS,
      'last evening': 18 * HOUR_MS,
      'in the future': -HOUR_MS,
    };
    test.each(
      Object.entries(ENDS).flatMap(([name, agoMs]) =>
        [undefined, 1, 2, 3, 4, 10].flatMap((top) =>
          ([DAY_MS, undefined] as const).map((intervalMs) => [name, agoMs, top, intervalMs] as const),
        ),
      ),
    )('until %s (%i ms), top %p, every %p ms', async (_name, agoMs, top, intervalMs) => {
      for (const [from, project] of [
        ['2030-05-05T00:00:00Z', projectId],
        ['2030-05-05T07:11:00Z', undefined],
        ['2030-05-05T00:00:00Z', undefined],
      ] as const) {
        const range = { fromMs: Date.parse(from), toMs: lastMs - agoMs, nowMs: lastMs, projectId: project };
        const query = {
          ...range,
          intervalMs,
          top,
          groupBy: 'customer' as const,
          sums: SPEND_SUMS,
          withDurations: false,
        };
        const { buckets, groups } = await loadBuckets(db, query);
        const wanted = expected(query);
        const found = buckets.map(({ startMs, group, requests, costNanoUsd, savedNanoUsd, tokensIn }) => [
          `${startMs} ${group}`,
          [requests, costNanoUsd, savedNanoUsd, tokensIn],
        ]);
        expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wanted.sums));
        expect(groups).toBe(wanted.groups);
      }
    });

    test('parts of days over more than a day are read within bounds, and add up', async () => {
      const range = { fromMs: lastMs - 3 * DAY_MS, toMs: lastMs, nowMs: lastMs, projectId };
      const query = { ...range, intervalMs: 3 * HOUR_MS, groupBy: 'customer', sums: SPEND_SUMS } as const;
      const { buckets } = await loadBuckets(db, { ...query, withDurations: false });
      const wanted = expected({ ...query, withDurations: false });
      expect(new Map(buckets.map((bucket) => [`${bucket.startMs} ${bucket.group}`, bucket.costNanoUsd]))).toEqual(
        new Map([...wanted.sums].map(([key, [, cost = 0]]) => [key, cost])),
      );
    });
  });

  test.each([
    ['model', 100, HOUR_MS],
    ['model', 20, 900_000],
    ['provider', 100, DAY_MS],
    ['status', 50, 6 * HOUR_MS],
    ['customer', 20, 900_000],
    ['customer', 23, HOUR_MS],
    ['customer', 100, DAY_MS],
  ] as const)('the dearest by %s keep their name, over %i h every %i ms', async (groupBy, hours, intervalMs) => {
    const range = { fromMs: nowMs - hours * HOUR_MS, toMs: nowMs + 1, nowMs: nowMs + 1, projectId };
    const query = { ...range, intervalMs, groupBy, sums: SPEND_SUMS, withDurations: false };
    const { buckets, groups } = await loadBuckets(db, query);
    const costs = new Map<string | null, number>();
    for (const { group, costNanoUsd } of buckets) costs.set(group, (costs.get(group) ?? 0) + costNanoUsd);
    const dearest = [...costs].sort(([, a], [, b]) => b - a).map(([group]) => group);
    expect(dearest.length).toBeGreaterThan(1);
    for (const top of [1, dearest.length]) {
      const kept = new Set(dearest.slice(0, top));
      const folded = new Map<string, number>();
      for (const { startMs, group, costNanoUsd } of buckets) {
        const key = `${startMs} ${kept.has(group) ? group : '(other)'}`;
        folded.set(key, (folded.get(key) ?? 0) + costNanoUsd);
      }
      const found = await loadBuckets(db, { ...query, top });
      expect(new Map(found.buckets.map((one) => [`${one.startMs} ${one.group}`, one.costNanoUsd]))).toEqual(folded);
      expect([found.groups, groups]).toEqual([dearest.length, dearest.length]);
    }
  });

  test('sums that are asked for are the same as among all', async () => {
    const range = { fromMs: nowMs - 100 * HOUR_MS, toMs: nowMs + 1, nowMs: nowMs + 1, projectId };
    const query = { ...range, intervalMs: HOUR_MS, groupBy: 'model', top: 2, withDurations: false } as const;
    const [all, some] = await Promise.all([loadBuckets(db, query), loadBuckets(db, { ...query, sums: SPEND_SUMS })]);
    const spend = ({ buckets }: typeof all) =>
      buckets.map(({ startMs, group, requests, costNanoUsd, savedNanoUsd, tokensIn, tokensOut }) => ({
        ...{ startMs, group, requests, costNanoUsd, savedNanoUsd, tokensIn, tokensOut },
      }));
    expect(spend(some)).toEqual(spend(all));
    expect(all.buckets.some(({ success }) => success > 0)).toBe(true);
  });

  test.each<[string, LogFilter, (record: LogRecord) => boolean]>([
    ['model', { model: 'model-1' }, (record) => record.model === 'model-1'],
    ['provider', { provider: 'beta' }, (record) => record.finalProvider === 'beta'],
    ['status', { status: 'rate_limited' }, (record) => record.status === 'rate_limited'],
    ['exact hits', { cache: 'exact' }, (record) => record.cacheHit && !record.semanticCacheHit],
    ['semantic hits', { cache: 'semantic' }, (record) => record.semanticCacheHit],
    ['misses', { cache: 'miss' }, (record) => !record.cacheHit && !record.semanticCacheHit],
    ['customer', { customerId: 'customer-2' }, (record) => record.customerId === 'customer-2'],
    ['label', { labels: { team: 't1' } }, (record) => record.labels?.team === 't1'],
    ['cost', { minCostNanoUsd: 1_200 }, (record) => record.costNanoUsd >= 1_200],
    ['latency', { minLatencyMs: 1_000 }, (record) => record.latencyMs >= 1_000],
    [
      'time to the first token, tokens and stream',
      { latencyOf: 'ttft', minLatencyMs: 10, maxLatencyMs: 200, minTokens: 20, maxTokens: 5_000, stream: true },
      ({ ttftMs = -1, tokensIn, tokensOut, stream }) =>
        ttftMs >= 10 && ttftMs <= 200 && tokensIn + tokensOut >= 20 && tokensIn + tokensOut <= 5_000 && stream,
    ],
    [
      'time',
      { fromMs: nowMs - DAY_MS, toMs: nowMs - HOUR_MS },
      ({ createdAtMs: at }) => at >= nowMs - DAY_MS && at < nowMs - HOUR_MS,
    ],
    ['words', { q: '100% NUMBER_1' }, (record) => record.errorMessage?.includes('100% number_1') === true],
    [
      'two filters',
      { model: 'model-0', status: 'success' },
      (record) => record.model === 'model-0' && record.status === 'success',
    ],
  ])('logs by %s, newest first, page by page', async (_name, filter, matches) => {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await searchLogs(db, { ...filter, projectId }, { limit: 37, cursor }, nowMs);
      ids.push(...page.data.map((row) => row.id));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    const expected = records.filter(matches).sort((a, b) => b.createdAtMs - a.createdAtMs);
    expect(expected.length).toBeGreaterThan(0);
    expect(ids).toEqual(expected.map((record) => record.id));
  });

  test('one request is found by its id', async () => {
    const [record] = records;
    const page = await searchLogs(db, { requestId: record?.id }, { limit: 5 }, nowMs);
    expect(page.data.map((row) => row.id)).toEqual([record?.id ?? '']);
    expect((await searchLogs(db, { requestId: crypto.randomUUID() }, { limit: 5 }, nowMs)).data).toEqual([]);
  });
});
