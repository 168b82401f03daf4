import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { keepZone } from './kept-zone';
import { readPageSearch } from './page-search';
import { readRequestFilter, readRequestsSearch, toAddress, toLogQuery } from './request-filter';
import {
  bucketStarts,
  earlierRange,
  PRESETS,
  type Preset,
  previousRange,
  resolveRange,
  unreadRange,
} from './time-range';

const NOW = Date.UTC(2026, 5, 15, 12, 34, 56);

describe('ranges', () => {
  test('every preset is as long as it says, ends now, and has few enough buckets, of whole steps', () => {
    for (const preset of Object.keys(PRESETS) as Preset[]) {
      const range = resolveRange({ range: preset }, NOW);
      expect(range.toMs - range.fromMs).toBe(PRESETS[preset].ms);
      expect(range.toMs).toBeGreaterThanOrEqual(NOW);
      expect(range.toMs - NOW).toBeLessThanOrEqual(60_000);
      expect(bucketStarts(range).length).toBeLessThanOrEqual(112);
    }
  });

  test('a custom range is taken as it is; a wrong one is the default', () => {
    const custom = resolveRange({ from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }, NOW);
    expect(custom).toMatchObject({ fromMs: Date.UTC(2026, 0, 1), toMs: Date.UTC(2026, 0, 2), label: 'custom' });
    expect(resolveRange({ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, NOW).label).toBe('24 hours');
    expect(previousRange(custom)).toMatchObject({ fromMs: Date.UTC(2025, 11, 31), toMs: Date.UTC(2026, 0, 1) });
  });

  test('buckets cover the range without gaps and start where the API starts them', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e12 }), fc.integer({ min: 1000, max: 9e9 }), (fromMs, length) => {
        const range = resolveRange(
          { from: new Date(fromMs).toISOString(), to: new Date(fromMs + length).toISOString() },
          NOW,
        );
        const starts = bucketStarts(range);
        expect(starts[0]).toBeLessThanOrEqual(range.fromMs);
        expect((starts.at(-1) ?? 0) + range.intervalMs).toBeGreaterThanOrEqual(range.toMs);
        expect(starts.every((start, index) => start === (starts[0] ?? 0) + index * range.intervalMs)).toBe(true);
        expect((starts[0] ?? 1) % range.intervalMs).toBe(0);
      }),
    );
  });
});

test('the period before has as many buckets, each as much earlier; of presets it ends where the range begins', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1e11, max: 1e12 }), fc.integer({ min: 1000, max: 9e9 }), (fromMs, length) => {
      const [from, to] = [fromMs, fromMs + length].map((ms) => new Date(ms).toISOString());
      const range = resolveRange({ from, to }, NOW);
      const [now, before] = [bucketStarts(range), bucketStarts(earlierRange(range))];
      const shift = (now[0] ?? 0) - (before[0] ?? 0);
      expect(before.map((start) => start + shift)).toEqual(now);
      expect(earlierRange(range).toMs).toBeLessThanOrEqual(range.fromMs);
    }),
  );
  for (const preset of Object.keys(PRESETS) as Preset[]) {
    const range = resolveRange({ range: preset }, NOW);
    expect(earlierRange(range).toMs).toBe(range.fromMs);
  }
});

describe('the address', () => {
  const project = '01234567-89ab-cdef-0123-456789abcdef';
  test('valid values stay, others are dropped', () => {
    expect(readPageSearch({ range: '7d', tz: 'local', project, evil: 1 })).toEqual({
      range: '7d',
      tz: 'local',
      project,
    });
    expect(readPageSearch({ tz: 'mars', project: '<script>', marks: 'on' })).toEqual({});
  });

  test('a range that is none is the usual one, and the page says so', () => {
    const [early, late] = ['2026-11-20T00:00:00.000Z', '2026-11-27T00:00:00.000Z'];
    const read = (search: object) => {
      const found = readPageSearch({ ...search });
      return [resolveRange(found, NOW).label, ...unreadRange(found)];
    };
    expect(read({ from: 'xyz', to: 'abc', range: '7d' })).toEqual(['7 days', 'from=xyz', 'to=abc']);
    expect(read({ from: late, to: early })).toEqual(['24 hours', `from=${late}`, `to=${early}`]);
    expect(read({ from: early })).toEqual(['24 hours', `from=${early}`]);
    expect(['9y', 'toString'].map((range) => read({ range }))).toEqual([
      ['24 hours', 'range=9y'],
      ['24 hours', 'range=toString'],
    ]);
    expect(read({ from: early, to: late, range: '7d' })).toEqual(['custom']);
    expect([read({}), read({ range: '1h' })]).toEqual([['24 hours'], ['1 hour']]);
  });

  test('without a zone, an address has the one that this browser keeps', () => {
    keepZone('local');
    expect([readPageSearch({}), readPageSearch({ tz: 'utc' })]).toEqual([{ tz: 'local' }, { tz: 'utc' }]);
    keepZone(undefined);
    expect([readPageSearch({}), readPageSearch({ tz: 'local' })]).toEqual([{}, { tz: 'local' }]);
  });

  test('filters of requests survive, numbers and labels too', () => {
    const filter = readRequestFilter({
      model: 'a',
      status: 'error',
      cache: 'no',
      min_latency: 100,
      label: 'team=a=b',
      q: 42,
      customer_id: '',
    });
    expect(filter).toEqual({ model: 'a', outcome: 'error', min_latency: '100', label: 'team=a=b', q: '42' });
    expect(toLogQuery(filter)).toEqual({
      model: 'a',
      outcome: 'error',
      min_latency: '100',
      q: '42',
      'label.team': 'a=b',
    });
    expect(toLogQuery({ label: '=x' })).toEqual({});
  });

  test('bounds of durations and tokens survive, also as typed by hand', () => {
    const given = { max_latency: 12.5, latency_of: 'ttft', stream: true, min_tokens: 1000, max_tokens: '99.5' };
    const filter = { max_latency: '12.5', latency_of: 'ttft', stream: 'true', min_tokens: '1000' } as const;
    expect(readRequestFilter(given)).toEqual(filter);
    expect(toLogQuery(filter)).toEqual(filter);
    expect(readRequestFilter({ latency_of: 'all', stream: 'yes' })).toEqual({});
    const unknown = readRequestsSearch({ status: 'failed', cache: ['exact', 'mist'], stream: 'yes', model: 'gpt-4o' });
    expect(unknown).toEqual({ cache: 'exact', model: 'gpt-4o', unread: ['cache=mist', 'status=failed', 'stream=yes'] });
    // A change of another filter keeps them in sight.
    expect(readRequestsSearch({ ...unknown, status: undefined })).toEqual(unknown);
    expect(readRequestsSearch({ status: 'error' })).toEqual({ outcome: 'error' });
  });

  test('several values, and what it is not, survive; one value stands alone', () => {
    const filter = readRequestFilter({
      outcome: ['error', 'nonsense', 'aborted', 'error'],
      model_not: ['gpt-4o'],
      label: ['team=a', 'team=b', 'env=x', '=no'],
      label_not: 'team=c',
      customer_id_not: [],
    });
    expect(filter).toEqual({
      outcome: ['error', 'aborted'],
      model_not: 'gpt-4o',
      label: ['team=a', 'team=b', 'env=x'],
      label_not: 'team=c',
    });
    const query = toLogQuery(filter);
    expect(query).toEqual({
      outcome: ['error', 'aborted'],
      model_not: 'gpt-4o',
      ...{ 'label.team': ['a', 'b'], 'label.env': 'x', 'label_not.team': 'c' },
    });
    expect(toAddress(query)).toBe(
      'model_not=gpt-4o&outcome=error&outcome=aborted&label.team=a&label.team=b&label.env=x&label_not.team=c',
    );
  });
});
