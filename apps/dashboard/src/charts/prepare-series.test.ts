import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  accumulate,
  chartCsv,
  isEmpty,
  isolatedIndexes,
  prepareSeries,
  stackValues,
  unfinishedIndex,
} from './prepare-series';
import { colorsOf, OTHER_COLOR, SeriesColors } from './series-colors';

const at = (minute: number) => new Date(minute * 60_000).toISOString();
const times = [0, 60_000, 120_000];

test('points between gaps are found, at the ends too', () => {
  expect(isolatedIndexes([1, null, 2, 3, null, 0, null, null, 4])).toEqual([0, 5, 8]);
  expect(isolatedIndexes([null, null])).toEqual([]);
});

describe('series', () => {
  const prepare = (empty: 0 | null) =>
    prepareSeries({
      times,
      buckets: [
        { start: at(0), group: 'b', cost: 1 },
        { start: at(0), group: 'a', cost: 5 },
        { start: at(2), group: 'b', cost: 0 },
        { start: at(1), group: '', cost: 9 },
        { start: at(1), group: '(other)', cost: 99 },
        { start: at(7), group: 'a', cost: 1000 },
      ],
      value: (bucket) => bucket.cost,
      empty,
      labelOf: (name) => name.toUpperCase(),
    });

  test('the largest first, what has no name last; buckets beyond the range left out', () => {
    const { series } = prepare(0);
    expect(series.map(({ name }) => name)).toEqual(['a', 'b', '', '(other)']);
    expect(series[0]).toEqual({ name: 'a', label: 'A', color: colorsOf(['a', 'b'])('a'), values: [5, 0, 0] });
    expect(series[2]?.label).toBe('(none)');
  });

  test('missing values are gaps, and a zero stays zero', () => {
    expect(prepare(null).series.find(({ name }) => name === 'b')?.values).toEqual([1, null, 0]);
  });

  test('nothing to draw: no series, or only zeros and gaps', () => {
    const series = { name: 'a', label: 'a', color: '', values: [0, null] };
    expect(isEmpty({ times, series: [] })).toBe(true);
    expect(isEmpty({ times, series: [series] })).toBe(true);
    expect(isEmpty({ times, series: [{ ...series, values: [0, 1] }] })).toBe(false);
  });

  test('layers end at the sum of all, whatever is missing', () => {
    const value = fc.option(fc.nat(1_000_000), { nil: null });
    fc.assert(
      fc.property(fc.array(fc.array(value, { minLength: 5, maxLength: 5 }), { minLength: 1, maxLength: 6 }), (rows) => {
        const stacked = stackValues(rows.map((values, index) => ({ name: `${index}`, label: '', color: '', values })));
        for (const index of [0, 1, 2, 3, 4]) {
          const sums = stacked.map((layer) => layer[index] ?? 0);
          expect(sums.at(-1)).toBe(rows.reduce((sum, row) => sum + (row[index] ?? 0), 0));
          expect([...sums].sort((a, b) => a - b)).toEqual(sums);
        }
      }),
    );
  });

  test('the bucket that now is in has not ended; charts of the past have none', () => {
    const at = (nowMs: number) => unfinishedIndex(times, 60_000, nowMs);
    expect([at(-1), at(0), at(59_999), at(60_000), at(179_999), at(180_000)]).toEqual([null, 0, 0, 1, 2, null]);
    expect(unfinishedIndex([], 60_000, 0)).toBeNull();
  });

  test('running totals', () => {
    expect(accumulate([1, null, 2])).toEqual([1, 1, 3]);
  });
});

describe('CSV', () => {
  test('gaps are empty, zeros are 0, what a spreadsheet would run is text', () => {
    const series = [{ name: 'x', label: '=cmd()', color: '', values: [1.5, null, 0] }];
    expect(chartCsv({ times, series })).toBe(
      `start,'=cmd()\r\n1970-01-01T00:00:00.000Z,1.5\r\n1970-01-01T00:01:00.000Z,\r\n1970-01-01T00:02:00.000Z,0`,
    );
  });
});

describe('colours', () => {
  const names = Array.from({ length: 10 }, (_, index) => `model-${index}`);

  const fresh = () => new SeriesColors(undefined);

  test('ten names shown together have ten colours, whatever their order', () => {
    const [one, other] = [fresh().colorsOf(names), fresh().colorsOf(names.toReversed())];
    expect(new Set(names.map(one)).size).toBe(10);
    expect(names.map(other)).toEqual(names.map(one));
    // Fixed for good: another browser, and the next version, show the same.
    expect(['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5'].map(fresh().colorOf)).toEqual([
      ...['#1098ad', '#7950f2', '#2f9e44'],
    ]);
  });

  test('a name has one colour on all pages, whatever it is shown with, and after a reload', () => {
    const kept = new Map<string, string>();
    const memory = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (k: string, v: string) => kept.set(k, v),
    };
    const colors = new SeriesColors(memory);
    const first = names.map(colors.colorsOf(names));
    for (let size = 1; size <= names.length; size++) {
      const some = names.slice(-size);
      expect(some.map(colors.colorsOf([...some, 'demo-chat']))).toEqual(first.slice(-size));
    }
    expect(names.map(new SeriesColors(memory).colorOf)).toEqual(first);
    expect(names.map(new SeriesColors({ ...memory, getItem: () => '{"a":1' }).colorOf).length).toBe(10);
  });

  test('a provider has one colour in every browser, and models keep theirs beside it', () => {
    const vendors = ['xai', 'ollama', 'openai', 'anthropic', 'demo'];
    const [one, other] = [fresh(), fresh()];
    vendors.map(one.colorOf);
    other.colorsOf([...names, ...vendors.toReversed()]);
    expect(vendors.map(one.colorOf)).toEqual(vendors.map(other.colorOf));
    expect(new Set(vendors.map(one.colorOf)).size).toBe(vendors.length);
    const own = Array.from({ length: 6 }, (_, index) => `own-${index}`);
    expect(new Set([...vendors, ...own].map(fresh().colorsOf([...own, ...vendors]))).size).toBe(11);
    expect(names.map(one.colorsOf(names))).toEqual(names.map(fresh().colorsOf(names)));
  });

  test('the eleventh name of a page has its colour on other pages, too', () => {
    const colors = fresh();
    const many = Array.from({ length: 16 }, (_, index) => `model-${index}`);
    const first = many.map(colors.colorsOf(many));
    expect(many.toReversed().map(colors.colorOf).toReversed()).toEqual(first);
    expect(new Set(first).size).toBe(16);
  });

  test('what is no name has no colour of its own', () => {
    const { colorOf, colorsOf } = fresh();
    expect([colorOf(''), colorOf('(other)'), colorsOf([''])('')]).toEqual([OTHER_COLOR, OTHER_COLOR, OTHER_COLOR]);
  });
});
