import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { SpendBucket } from '../../api/stats';
import type { ChartData } from '../../charts/prepare-series';
import { describeNoSpend, prepareSpend } from './prepare-spend';
import { toRunningTotals, toShares, toView } from './prepare-views';

const times = [0, 60_000, 120_000];
const bucket = (minute: number, group: string, cost_usd: number): SpendBucket => ({
  ...{ start: new Date(minute * 60_000).toISOString(), group, requests: 1, cost_usd, saved_usd: 0, tokens_in: 0 },
  ...{ tokens_out: 0, tokens_cache_read: 0, tokens_cache_write: 0, tokens_reasoning: 0 },
});
const valuesOf = (data: ChartData | undefined) => data?.series.map(({ name, values }) => [name, ...values]);

test('mistyped models, which fail at no cost, are not in the legend', () => {
  const buckets = [bucket(0, 'gpt-4o', 3), bucket(0, 'gpt-4oo', 0), bucket(1, 'gpt4', 0), bucket(2, 'gpt-4o', 0)];
  expect(valuesOf(prepareSpend(buckets, { times }))).toEqual([['gpt-4o', 3, 0, 0]]);
  expect(prepareSpend([bucket(0, 'gpt-4oo', 0)], { times })?.series).toEqual([]);
  expect(prepareSpend(undefined, { times })).toBeUndefined();
});

test('without spend, a chart denies only the spend where there are requests', () => {
  expect(describeNoSpend([bucket(0, 'demo-chat', 0)])).toBe('No spend in this range: its requests cost nothing.');
  expect(describeNoSpend([{ ...bucket(0, 'demo-chat', 0), requests: 0 }])).toBeUndefined();
  expect([describeNoSpend([]), describeNoSpend(undefined)]).toEqual([undefined, undefined]);
});

test('shares of each bucket and running totals', () => {
  const data = prepareSpend([bucket(0, 'a', 3), bucket(0, 'b', 1), bucket(2, 'b', 2)], { times });
  expect(valuesOf(toView(data, 'amounts'))).toEqual([
    ['a', 3, 0, 0],
    ['b', 1, 0, 2],
  ]);
  expect(valuesOf(toView(data, 'shares'))).toEqual([
    ['a', 0.75, 0, 0],
    ['b', 0.25, 0, 1],
  ]);
  expect(valuesOf(toView(data, 'total'))).toEqual([
    ['a', 3, 3, 3],
    ['b', 1, 1, 3],
  ]);
  expect(toView(undefined, 'shares')).toBeUndefined();
});

test('any spend: shares add up to one or nothing, running totals end at the sum', () => {
  const usd = fc.oneof(fc.constant(null), fc.constant(0), fc.double({ min: 1e-9, max: 1e6, noNaN: true }));
  const series = fc.array(fc.tuple(usd, usd, usd), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(series, (made) => {
      const data = { times, series: made.map((values, at) => ({ name: `${at}`, label: '', color: '', values })) };
      const sumAt = ({ series }: ChartData, index: number) =>
        series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0);
      for (const index of times.keys()) {
        expect(sumAt(toShares(data), index)).toBeCloseTo(sumAt(data, index) === 0 ? 0 : 1, 9);
      }
      for (const [at, { values }] of toRunningTotals(data).series.entries()) {
        expect(values.at(-1)).toBe((made[at] ?? []).reduce<number>((sum, value) => sum + (value ?? 0), 0));
      }
    }),
  );
});
