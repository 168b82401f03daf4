import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { csvCell } from '../format/csv';
import { accumulate, chartCsv, isEmpty, prepareSeries, stackValues, unfinishedIndex } from './prepare-series';
import { ColorBook, colorBook, OTHER_COLOR } from './series-colors';

const at = (minute: number) => new Date(minute * 60_000).toISOString();
const times = [0, 60_000, 120_000];

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
    expect(series[0]).toEqual({ name: 'a', label: 'A', color: colorBook.colorOf('a'), values: [5, 0, 0] });
    expect(series[2]?.label).toBe('(none)');
  });

  test('what is measured has gaps, and a zero stays a zero', () => {
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
    expect(csvCell('a "b", c\nd')).toBe('"a ""b"", c\nd"');
    expect(csvCell(-5)).toBe('-5');
  });
});

describe('colours', () => {
  const storage = () => {
    const kept = new Map<string, string>();
    return {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
    };
  };

  test('names have their own as long as there are any, the same again after a reload', () => {
    const shared = storage();
    const names = Array.from({ length: 12 }, (_, index) => `model-${index}`);
    const colors = names.map((name) => new ColorBook(shared).colorOf(name));
    expect(new Set(colors).size).toBe(12);
    expect(names.map((name) => new ColorBook(shared).colorOf(name))).toEqual(colors);
    expect(colors).toContain(new ColorBook(shared).colorOf('the thirteenth'));
  });

  test('what is no name has none of them; a broken storage breaks nothing', () => {
    const broken = {
      getItem: () => '{"not":"a list"}',
      setItem: () => {
        throw new Error('full');
      },
    };
    const book = new ColorBook(broken);
    expect([book.colorOf(''), book.colorOf('(other)')]).toEqual([OTHER_COLOR, OTHER_COLOR]);
    expect(book.colorOf('a')).not.toBe(book.colorOf('b'));
  });
});
