// Whatever is asked, the answer is what the requests themselves add up to: to the nano-dollar, percentiles within 2.5 %.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { outcomeOf } from '@llm0/core/errors/outcome';
import { histogramCount } from '@llm0/core/logs/histogram';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { runs } from '@llm0/testing/lane';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import fc from 'fast-check';
import type { Database } from '../../../client';
import { insertLogRecords } from '../../logs/log-insert';
import { DIFFERENCE_FIELDS, type DifferenceField, loadDifferences } from './differences';
import { loadFlows } from './flows';
import { loadBuckets, loadHistogram, loadOverview } from './load-stats';
import { loadProviderHealth } from './provider-health';
import { type BucketQuery, type GroupBy, METRIC_NAMES, OTHER_GROUPS, SPEND_SUMS, type StatsQuery } from './questions';
import type { UsageTotals } from './totals';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const nowMs = Date.parse('2030-02-20T15:30:17.123Z');
const projectId = crypto.randomUUID();
const STATUSES = [
  'success',
  'success',
  'success',
  'error',
  'rate_limited',
  'success',
  'aborted',
  'cap_exceeded',
] as const;

const CODES = ['invalid_request', 'upstream_timeout', 'upstream_error'] as const;

/** Many of the last minutes and hours, few of three months; uneven, and some at the very bounds of buckets. */
const first = Array.from({ length: 420 }, (_, index): LogRecord => {
  const agoMs = index < 60 ? index * 41_017 : index < 260 ? index * 611_113 : index * 17_311_117;
  const at = nowMs - 1 - agoMs;
  const isHit = index % 6 === 0;
  const status = isHit ? 'success' : (STATUSES[index % STATUSES.length] ?? 'success');
  return sampleRecord({
    projectId,
    apiKeyId: `00000000-0000-4000-8000-00000000000${index % 3}`,
    createdAtMs: index % 10 === 0 ? at - (at % HOUR_MS) : at,
    model: `model-${index % 4}`,
    requestedModel: index % 3 === 0 ? 'alias' : `model-${index % 4}`,
    stream: index % 7 < 4,
    finalProvider: index % 5 === 0 ? 'beta' : 'alpha',
    customerId: index % 3 === 0 ? undefined : `customer-${index % 7}`,
    labels: index % 2 === 0 ? { team: `t${index % 3}` } : undefined,
    costNanoUsd: isHit ? 0 : 1_000_000_007 + index * index * 13,
    savedNanoUsd: isHit ? 500 + index : 0,
    modality: index % 4 === 1 ? 'image' : index % 4 === 2 ? 'batch' : undefined,
    tokensIn: 10 + index,
    cacheHit: isHit,
    semanticCacheHit: index % 12 === 0,
    failoverCount: index % 9 === 0 ? 1 : 0,
    latencyMs: 0.4 + ((index * 7919) % 5000) * 1.7,
    overheadMs: 0.1 + (index % 17) / 3,
    upstreamMs: isHit ? undefined : 3 + ((index * 104_729) % 3000),
    ttftMs: index % 4 === 0 ? undefined : 1 + ((index * 31) % 800),
    status,
    refusedCount: status === 'rate_limited' ? 1 + (index % 3) * 40 : undefined,
    errorCode: status === 'success' || status === 'aborted' ? undefined : CODES[index % CODES.length],
  });
});
/** Settled late: another cost, another outcome, other durations. */
const corrections = first
  .filter((_, index) => index % 13 === 5)
  .map((record) => ({
    ...record,
    corrects: true as const,
    costNanoUsd: record.costNanoUsd + 77,
    latencyMs: record.latencyMs * 3,
    ttftMs: undefined,
    status: 'success' as const,
    refusedCount: undefined,
    errorCode: undefined,
  }));
const corrected = new Map(corrections.map((record) => [record.id, record]));
const records = first.map((record) => corrected.get(record.id) ?? record);

const GROUP_OF: Readonly<Record<string, (record: LogRecord) => string>> = {
  project: (record) => record.projectId,
  key: (record) => record.apiKeyId,
  model: (record) => record.model,
  provider: (record) => record.finalProvider ?? '',
  target: (record) => `${record.finalProvider ?? ''}/${record.model}`,
  customer: (record) => record.customerId ?? '',
  status: (record) => record.status,
  outcome: (record) => outcomeOf(record.status, record.errorCode ?? null),
  cache: (record) => DIFFERENCE_OF.cache(record),
  error_code: (record) => record.errorCode ?? '',
  modality: (record) => record.modality ?? 'text',
  'label.team': (record) => record.labels?.team ?? '',
};

function matching(query: BucketQuery): readonly LogRecord[] {
  return records.filter(
    (one) =>
      one.createdAtMs >= query.fromMs &&
      one.createdAtMs < query.toMs &&
      (query.apiKeyId === undefined || one.apiKeyId === query.apiKeyId) &&
      (query.model === undefined || one.model === query.model) &&
      (query.provider === undefined || one.finalProvider === query.provider) &&
      (query.status === undefined || one.status === query.status) &&
      (query.outcome === undefined || GROUP_OF.outcome?.(one) === query.outcome) &&
      (query.cache === undefined || GROUP_OF.cache?.(one) === query.cache) &&
      (query.customerId === undefined || one.customerId === query.customerId) &&
      (query.modality === undefined || (one.modality ?? 'text') === query.modality) &&
      (query.groupBy !== 'error_code' || one.errorCode !== undefined),
  );
}

function totalsOf(chosen: readonly LogRecord[]): UsageTotals {
  const sum = (of: (record: LogRecord) => number) => chosen.reduce((total, record) => total + of(record), 0);
  const having = (outcome: string) =>
    sum((record) => (GROUP_OF.outcome?.(record) === outcome ? (record.refusedCount ?? 1) : 0));
  return {
    requests: sum((record) => record.refusedCount ?? 1),
    success: having('success'),
    errors: having('error') + having('caller_error'),
    failures: having('error'),
    callerErrors: having('caller_error'),
    rateLimited: having('rate_limited'),
    capExceeded: having('cap_exceeded'),
    aborted: having('aborted'),
    tokensIn: sum((record) => record.tokensIn),
    tokensOut: sum((record) => record.tokensOut),
    tokensCacheRead: sum((record) => record.tokensCacheRead),
    tokensCacheWrite: sum((record) => record.tokensCacheWrite),
    tokensReasoning: sum((record) => record.tokensReasoning),
    costNanoUsd: sum((record) => record.costNanoUsd),
    savedNanoUsd: sum((record) => record.savedNanoUsd),
    exactHits: sum((record) => (record.cacheHit && !record.semanticCacheHit ? 1 : 0)),
    semanticHits: sum((record) => (record.semanticCacheHit ? 1 : 0)),
    failovers: sum((record) => record.failoverCount),
  };
}

const DIFFERENCE_OF: Readonly<Record<DifferenceField, (record: LogRecord) => string>> = {
  model: ({ model }) => model,
  provider: ({ finalProvider = '' }) => finalProvider,
  key: ({ apiKeyId }) => apiKeyId,
  cache: ({ cacheHit, semanticCacheHit }) => (semanticCacheHit ? 'semantic' : cacheHit ? 'exact' : 'miss'),
  stream: ({ stream }) => String(stream),
  size: ({ tokensIn, tokensOut }) => `1${'0'.repeat(String(tokensIn + tokensOut).length - 1)}`,
};

/** The dearest, then the busiest, then the first by name. */
function rank(chosen: readonly LogRecord[], groupOf: (record: LogRecord) => string): readonly string[] {
  const groups = Map.groupBy(chosen, groupOf);
  const ranked = [...groups].map(([name, members]) => ({ name, ...totalsOf(members) }));
  const order = (a: (typeof ranked)[number], b: (typeof ranked)[number]) =>
    b.costNanoUsd - a.costNanoUsd || b.requests - a.requests || (a.name < b.name ? -1 : 1);
  return ranked.sort(order).map(({ name }) => name);
}

const shortly = (totals: UsageTotals, query: BucketQuery): Partial<UsageTotals> => {
  const { requests, tokensIn, tokensOut, costNanoUsd, savedNanoUsd } = totals;
  if (query.groupBy === 'error_code') return { requests };
  return query.sums === SPEND_SUMS ? { requests, tokensIn, tokensOut, costNanoUsd, savedNanoUsd } : totals;
};

function expectPercentiles(found: Awaited<ReturnType<typeof loadOverview>>['durations'], chosen: readonly LogRecord[]) {
  for (const metric of METRIC_NAMES) {
    const values = chosen.map((record) => record[`${metric}Ms`]).filter((value) => value !== undefined);
    values.sort((a, b) => a - b);
    for (const [name, share] of [
      ['p50', 0.5],
      ['p95', 0.95],
      ['p99', 0.99],
    ] as const) {
      const exact = values[Math.ceil(share * values.length) - 1];
      if (exact === undefined) expect(found[metric][name]).toBeNull();
      else expect(Math.abs((found[metric][name] ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact * 0.025);
    }
  }
}

const ranges = fc
  .record({
    agoMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 * HOUR_MS }), fc.integer({ min: 0, max: 80 * DAY_MS })),
    lengthMs: fc.oneof(fc.integer({ min: 1, max: 3 * HOUR_MS }), fc.integer({ min: 1, max: 85 * DAY_MS })),
    stepMs: fc.constantFrom(1, 1000, MINUTE_MS, HOUR_MS, DAY_MS),
  })
  .map(({ agoMs, lengthMs, stepMs }) => {
    const toMs = agoMs === 0 ? nowMs : Math.floor((nowMs - agoMs) / stepMs) * stepMs;
    const fromMs = Math.max(nowMs - 88 * DAY_MS, toMs - Math.max(stepMs, Math.floor(lengthMs / stepMs) * stepMs));
    return { fromMs, toMs, nowMs, projectId };
  })
  .filter(({ fromMs, toMs }) => fromMs < toMs);

const maybe = <T>(...values: T[]) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, fc.constantFrom(...values));

const queries = fc.record({
  range: ranges,
  intervalMs: fc.constantFrom(
    undefined,
    7 * DAY_MS,
    DAY_MS,
    12 * HOUR_MS,
    3 * HOUR_MS,
    HOUR_MS,
    15 * MINUTE_MS,
    90_000,
  ),
  groupBy: fc.constantFrom(undefined, ...(Object.keys(GROUP_OF) as GroupBy[])),
  top: fc.constantFrom(undefined, 1, 2, 4),
  filter: fc.record({
    apiKeyId: maybe('00000000-0000-4000-8000-000000000001'),
    model: maybe('model-1', 'model-2'),
    provider: maybe('beta'),
    status: maybe('success', 'error'),
    cache: maybe('miss', 'exact'),
    customerId: maybe('customer-2'),
    modality: maybe('image', 'text'),
  }),
  withDurations: fc.boolean(),
  onlySpend: fc.boolean(),
});

describe.each(TEST_DATABASES)('statistics against the requests on $name', (kind) => {
  let database: Database;
  beforeAll(async () => {
    database = await kind.open();
    for (let i = 0; i < first.length; i += 70) await insertLogRecords(database.db, first.slice(i, i + 70));
    await insertLogRecords(database.db, corrections);
  }, 60_000);
  afterAll(() => database.close());

  test('buckets by anything over any range', async () => {
    const property = fc.asyncProperty(queries, async ({ range, filter, onlySpend, ...rest }) => {
      const isShort = range.toMs - range.fromMs <= 7 * DAY_MS;
      const intervalMs =
        rest.intervalMs === undefined || isShort || rest.intervalMs % HOUR_MS === 0 ? rest.intervalMs : HOUR_MS;
      // Roll-ups of errors know no money to rank by.
      const top = rest.groupBy === 'error_code' ? undefined : rest.top;
      const sums = onlySpend ? SPEND_SUMS : undefined;
      const query: BucketQuery = { ...range, ...filter, ...rest, intervalMs, top, sums };
      const { buckets, groups, partialFromMs } = await loadBuckets(database.db, query);
      const chosen = matching({ ...query, fromMs: partialFromMs ?? query.fromMs });
      const groupOf = query.groupBy === undefined ? () => '' : (GROUP_OF[query.groupBy] ?? (() => ''));
      const kept = rank(chosen, groupOf).slice(0, query.groupBy === undefined ? undefined : top);
      const placeOf = (record: LogRecord) => {
        const startMs =
          intervalMs === undefined ? query.fromMs : Math.floor(record.createdAtMs / intervalMs) * intervalMs;
        const name = groupOf(record);
        return `${startMs} ${query.groupBy === undefined ? null : kept.includes(name) ? name : OTHER_GROUPS}`;
      };
      const expected = Map.groupBy(chosen, placeOf);
      const found = new Map(buckets.map((bucket) => [`${bucket.startMs} ${bucket.group}`, bucket]));
      expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
      expect(groups).toBe(new Set(chosen.map(groupOf)).size);
      for (const [place, members] of expected) {
        const bucket = found.get(place);
        if (bucket === undefined) continue;
        const { startMs: _, group: __, durations, ...totals } = bucket;
        if (query.groupBy === 'error_code') expect([totals.costNanoUsd, totals.tokensIn]).toEqual([0, 0]);
        expect(shortly(totals, query)).toEqual(shortly(totalsOf(members), query));
        if (query.withDurations) expectPercentiles(durations as NonNullable<typeof durations>, members);
      }
    });
    // An hour's roll-up less its later rows: one error code is left with no requests.
    const fromMs = Date.parse('2030-02-20T13:00:00Z');
    const range = { fromMs, toMs: fromMs + 114 * MINUTE_MS, nowMs, projectId };
    const nothing = { apiKeyId: undefined, model: undefined, provider: undefined, status: undefined, cache: undefined };
    const found = { range, intervalMs: undefined, groupBy: 'error_code', top: undefined } as const;
    const filter = { ...nothing, customerId: undefined, modality: undefined };
    const example = { ...found, filter, withDurations: false, onlySpend: false };
    await fc.assert(property, { numRuns: runs(150), examples: [[example]] });
  }, 120_000);

  test('health of providers over any range: their own answers and failures', async () => {
    const asked = fc.record({
      range: ranges,
      intervalMs: fc.constantFrom(undefined, 12 * HOUR_MS, HOUR_MS, 16 * MINUTE_MS),
    });
    const property = fc.asyncProperty(asked, async ({ range, intervalMs }) => {
      const buckets = await loadProviderHealth(database.db, { ...range, intervalMs });
      const counted = matching({ ...range, withDurations: false }).filter(
        ({ status, cacheHit, errorCode }) =>
          (status === 'success' && !cacheHit) || (status === 'error' && errorCode?.startsWith('upstream_')),
      );
      const placeOf = ({ createdAtMs, finalProvider }: LogRecord) =>
        `${intervalMs === undefined ? range.fromMs : Math.floor(createdAtMs / intervalMs) * intervalMs} ${finalProvider}`;
      const expected = [...Map.groupBy(counted, placeOf)].map(([place, members]) => {
        const failed = members.filter(({ status }) => status === 'error').length;
        return { place, answered: members.length - failed, failed, failedOver: 0, answeredElsewhere: 0 };
      });
      const found = buckets.map(({ startMs, provider, mainFailure: _, ...counts }) => ({
        ...{ place: `${startMs} ${provider}`, ...counts },
      }));
      const byPlace = (a: { place: string }, b: { place: string }) => (a.place < b.place ? -1 : 1);
      expect(found.sort(byPlace)).toEqual(expected.sort(byPlace));
    });
    await fc.assert(property, { numRuns: runs(50) });
  }, 120_000);

  test('overviews and histograms of any range', async () => {
    const property = fc.asyncProperty(ranges, async (range: StatsQuery) => {
      const chosen = matching({ ...range, withDurations: true });
      const { durations, ...totals } = await loadOverview(database.db, range);
      expect(totals).toEqual(totalsOf(chosen));
      expectPercentiles(durations, chosen);
      const intervalMs = range.toMs - range.fromMs > 7 * DAY_MS ? 12 * HOUR_MS : 15 * MINUTE_MS;
      const { all, hits, buckets } = await loadHistogram(database.db, { ...range, intervalMs }, 'ttft');
      const measured = chosen.filter((record) => record.ttftMs !== undefined);
      expect(histogramCount(all)).toBe(measured.length);
      expect(histogramCount(hits)).toBe(measured.filter(({ cacheHit }) => cacheHit).length);
      const starts = Map.groupBy(measured, ({ createdAtMs: at }) => at - (at % intervalMs));
      const expected = [...starts].sort(([a], [b]) => a - b).map(([startMs, members]) => [startMs, members.length]);
      expect(buckets.map(({ startMs, counts }) => [startMs, histogramCount(counts)])).toEqual(expected);
      expect((await loadHistogram(database.db, range, 'ttft')).buckets).toEqual([]);
    });
    await fc.assert(property, { numRuns: runs(50) });
  }, 120_000);

  test('what differs in any region, exactly as long as the rows are few', async () => {
    const asked = fc.record({
      range: ranges,
      metric: fc.constantFrom('latency' as const, 'ttft' as const),
      time: fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
      minMs: fc.double({ min: 0, max: 3000, noNaN: true }),
      lengthMs: fc.double({ min: 0, max: 5000, noNaN: true }),
    });
    const property = fc.asyncProperty(asked, async ({ range, metric, time, minMs, lengthMs }) => {
      const [first = 0, last = 0] = time
        .map((share) => range.fromMs + share * (range.toMs - range.fromMs))
        .sort((a, b) => a - b);
      const region = { fromMs: Math.floor(first), toMs: Math.ceil(last) + 1, minMs, maxMs: minMs + lengthMs };
      const found = await loadDifferences(database.db, { ...range, metric, region });
      const isInside = (record: LogRecord) => {
        const ms = record[`${metric}Ms`] ?? Number.NaN;
        const isThen = record.createdAtMs >= region.fromMs && record.createdAtMs < region.toMs;
        return isThen && ms >= region.minMs && ms <= region.maxMs;
      };
      const measured = matching({ ...range, withDurations: true }).filter((one) => one[`${metric}Ms`] !== undefined);
      const [inside, outside] = [measured.filter(isInside), measured.filter((record) => !isInside(record))];
      expect(found).toMatchObject({ inside: inside.length, outside: outside.length, isSampled: false });
      const values = measured.flatMap((record) =>
        DIFFERENCE_FIELDS.map((field) => `${field} ${DIFFERENCE_OF[field](record)}`),
      );
      expect(found.differences.map(({ field, value }) => `${field} ${value}`).sort()).toEqual(
        [...new Set(values)].sort(),
      );
      let before = 1;
      for (const { field, value, insideShare, outsideShare } of found.differences) {
        const shareOf = (all: readonly LogRecord[]) =>
          all.filter((record) => DIFFERENCE_OF[field](record) === value).length / all.length;
        if (inside.length > 0) expect(insideShare).toBeCloseTo(shareOf(inside), 9);
        else expect(insideShare).toBeNull();
        if (outside.length > 0) expect(outsideShare).toBeCloseTo(shareOf(outside), 9);
        else expect(outsideShare).toBeNull();
        const difference = Math.abs((insideShare ?? 0) - (outsideShare ?? 0));
        expect(difference).toBeLessThanOrEqual(before + 1e-9);
        before = difference;
      }
    });
    await fc.assert(property, { numRuns: runs(50) });
  }, 120_000);

  test('ways of requests over any range', async () => {
    const property = fc.asyncProperty(ranges, async (range: StatsQuery) => {
      const chosen = matching({ ...range, withDurations: false });
      const wayOf = (record: LogRecord) =>
        [record.projectId, record.requestedModel, record.finalProvider, record.cacheHit].join(' ');
      const expected = [...Map.groupBy(chosen, wayOf)].map(([way, members]) => {
        const failed = members.filter(
          ({ status, errorCode }) => status === 'error' && errorCode?.startsWith('upstream'),
        );
        const success = members.filter(({ status }) => status === 'success').length;
        return { way, success, requests: totalsOf(members).requests, failed: totalsOf(failed).requests };
      });
      const { requests, isSampled, flows } = await loadFlows(database.db, range);
      const found = flows.map(({ projectId: project, requestedModel, provider, isCached, ...counts }) => ({
        ...{ way: [project, requestedModel, provider, isCached].join(' '), ...counts },
      }));
      const byWay = (a: { way: string }, b: { way: string }) => (a.way < b.way ? -1 : 1);
      expect(found.toSorted(byWay)).toEqual(expected.toSorted(byWay));
      expect({ requests, isSampled }).toEqual({ requests: totalsOf(chosen).requests, isSampled: false });
      expect(flows.map((flow) => flow.requests)).toEqual(flows.map((flow) => flow.requests).sort((a, b) => b - a));
    });
    await fc.assert(property, { numRuns: runs(30) });
  }, 120_000);

  test('many rows are sampled, and estimates say so', async () => {
    const range = { fromMs: nowMs - 80 * DAY_MS, toMs: nowMs, nowMs, projectId, mostRows: 100 };
    const region = { fromMs: nowMs - 20 * DAY_MS, toMs: nowMs, minMs: 0, maxMs: 1e6 };
    const found = await loadDifferences(database.db, { ...range, metric: 'latency', region });
    const all = matching({ ...range, withDurations: true });
    expect(found.isSampled).toBe(true);
    expect(found.inside).toBeGreaterThan(0);
    expect(found.inside + found.outside).toBeLessThan(all.length);
    const flows = await loadFlows(database.db, range);
    expect(flows.isSampled).toBe(true);
    const sum = flows.flows.reduce((total, { requests }) => total + requests, 0);
    expect(Math.abs(flows.requests - sum)).toBeLessThanOrEqual(flows.flows.length);
  });
});
