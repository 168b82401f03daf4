import { expect, test } from 'bun:test';
import type { TimeChartProps } from './chart-props';
import { describeBucket, opensOf } from './prepare-tooltip';

test('amounts of a bucket have the decimals of the largest, with their total', () => {
  const series = [0.007665, 0.0121, 0.003395].map((usd, index) => ({
    ...{ name: `m${index}`, label: `m${index}`, color: '', values: [usd, usd * 1000] },
  }));
  const chart: TimeChartProps = {
    data: { times: [0, 60_000], series },
    kind: 'stacked',
    unit: 'usd',
    timeZone: 'utc',
    ...{ intervalMs: 60_000, title: '', label: '', height: 100 },
  };
  expect(describeBucket(chart, 0)).toEndWith('m0 $0.0077, m1 $0.0121, m2 $0.0034, total $0.0232');
  expect(describeBucket(chart, 1)).toEndWith('m0 $7.67, m1 $12.10, m2 $3.40, total $23.16');
});

test('the note names the series that a click opens, unless it opens all', () => {
  const series = ['success', '(other)'].map((name) => ({ name, label: `Label of ${name}`, color: '', values: [1] }));
  const chart: TimeChartProps = {
    ...{ data: { times: [0], series }, kind: 'stacked', unit: 'count', timeZone: 'utc' },
    ...{ intervalMs: 60_000, title: '', label: '', height: 100, hasOwn: (name) => name === 'success' },
  };
  expect([opensOf(chart, 'success'), opensOf(chart, '(other)'), opensOf(chart, null)]).toEqual([
    ...['these requests: Label of success', 'these requests', 'these requests'],
  ]);
  const dearest = { ...chart, opens: 'the dearest requests' };
  expect(opensOf(dearest, 'success')).toBe('the dearest requests: Label of success');
  const alone = { ...dearest, data: { times: [0], series: series.slice(0, 1) } };
  expect(opensOf(alone, 'success')).toBe('the dearest requests');
});
