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
import { apartColorOf, colorOf, distance, KEPT, MEANING, OTHER_COLOR, oklab, PALETTE } from './series-colors';

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
    expect(series[0]).toEqual({ name: 'a', label: 'A', color: colorOf('a'), values: [5, 0, 0] });
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
  const channelsOf = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255);
  const linear = (hex: string) => channelsOf(hex).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  const luminanceOf = (hex: string) => dot(linear(hex), [0.2126, 0.7152, 0.0722]);
  const contrast = (a: string, b: string) => {
    const [low = 0, high = 0] = [luminanceOf(a), luminanceOf(b)].sort((one, other) => one - other);
    return (high + 0.05) / (low + 0.05);
  };
  const apart = (a: string, b: string) => distance(oklab(a), oklab(b));

  test('a color depends on its name alone: each browser, page and version shows the same', () => {
    const names = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5', 'our-own-model', 'acme'];
    expect(names.map(colorOf)).toEqual(['#4c6ef5', '#12a594', '#ae3ec9', '#cd6151', '#037ac0']);
    const prepared = (groups: readonly string[]) =>
      new Map(
        prepareSeries({
          ...{ times, empty: 0, value: () => 1 },
          buckets: groups.map((group) => ({ start: at(0), group })),
        }).series.map(({ name, color }) => [name, color]),
      );
    for (const name of names) expect(prepared(names).get(name)).toBe(prepared([name]).get(name));
  });

  test('customers of a chart have colors apart, and each keeps its own', () => {
    const chart = (groups: readonly string[]) =>
      prepareSeries({
        ...{ times, empty: 0, value: () => 1, colorOf: apartColorOf },
        buckets: groups.map((group) => ({ start: at(0), group })),
      }).series;
    const customers = [
      'acme',
      'globex',
      'tyrell',
      'hooli',
      'umbrella',
      'initech',
      'stark',
      'wayne',
      'cyberdyne',
      'wonka',
    ];
    const first = chart(customers).map(({ color }) => color);
    for (const [index, color] of first.entries()) {
      for (const other of first.slice(0, index)) expect(apart(color, other)).toBeGreaterThan(0.1);
    }
    const mixed = chart(['soylent', 'hooli', 'oscorp', 'acme']);
    expect(new Set(mixed.map(({ color }) => color)).size).toBe(4);
    for (const { name, color } of mixed) {
      const before = customers.indexOf(name);
      if (before !== -1) expect(color).toBe(first[before] ?? '');
    }
  });

  test("models of the demo differ, and so do each vendor's", () => {
    for (const names of [
      ['gpt-4o-mini', 'gpt-4o', 'claude-haiku-4-5', 'claude-sonnet-4-5', 'gemini-2.5-flash', 'demo-chat'],
      ['openai', 'anthropic', 'gemini', 'demo', 'xai', 'ollama'],
    ]) {
      expect(new Set(names.map(colorOf)).size).toBe(names.length);
    }
  });

  test('no provider has the color of a model, whatever the model is called', () => {
    const NAMES = ['openai', 'anthropic', 'gemini', 'demo', 'azure', 'ollama'];
    const providers = new Set(NAMES.map(colorOf));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.constantFrom('gpt-4o', 'gpt-5', 'demo-chat', 'text-embedding-3-small'),
          fc.string({ minLength: 1 }),
        ),
        (model) => providers.size === 6 && (NAMES.includes(model) || !providers.has(colorOf(model))),
      ),
    );
  });

  test('every color can be seen on the panels of both themes, and told from the others', () => {
    for (const [index, color] of PALETTE.entries()) {
      expect(Math.min(contrast(color, '#ffffff'), contrast(color, '#15181c'))).toBeGreaterThanOrEqual(3);
      // A just noticeable difference is about 0.02.
      expect(apart(color, OTHER_COLOR)).toBeGreaterThan(0.05);
      for (const other of PALETTE.slice(0, index)) {
        const isKept = PALETTE.indexOf(other) < KEPT && index >= KEPT;
        expect(apart(color, other)).toBeGreaterThan(isKept ? 0.07 : 0.05);
      }
    }
  });

  test('outcomes and kinds of hits have colors that no name has, to be seen on both themes and told apart', () => {
    const meanings = [...new Set<string>(Object.values(MEANING))];
    for (const [index, color] of meanings.entries()) {
      expect(Math.min(contrast(color, '#ffffff'), contrast(color, '#15181c'))).toBeGreaterThanOrEqual(3);
      for (const other of meanings.slice(0, index)) expect(apart(color, other)).toBeGreaterThan(0.08);
      for (const [place, other] of PALETTE.entries())
        expect(apart(color, other)).toBeGreaterThan(place < KEPT ? 0.07 : 0.05);
    }
  });

  test('errors of callers are no grey that looks like aborted requests', () => {
    expect(apart(MEANING.caller_error, MEANING.aborted)).toBeGreaterThan(0.15);
    expect(MEANING.caller).toBe(MEANING.caller_error);
  });

  test('what is no name has no colour of its own', () => {
    expect(['', '(other)'].map(colorOf)).toEqual([OTHER_COLOR, OTHER_COLOR]);
  });
});
