import { describe, expect, test } from 'bun:test';
import { microCases } from './cases';
import { measureMicro } from './measure';
import { parseCommandStats } from './measure-scripts';

test('the least and the median time of a call are found', () => {
  let nowMs = 0;
  let calls = 0;
  const run = () => {
    calls += 1;
    // Every tenth call takes ten times as long.
    nowMs += calls % 10 === 0 ? 10 : 1;
    return calls;
  };
  const result = measureMicro({ name: 'x', run }, { nowMs: () => nowMs, warmUpMs: 190, batches: 4, batchMs: 19 });
  expect(result).toEqual({ name: 'x', minUs: 1900, medianUs: 1900 });
});

describe('each case', () => {
  test.each(microCases().map((one) => [one.name, one] as const))('%s does something', (_name, { run }) => {
    expect(run()).toBeTruthy();
  });
});

test('calls and time of scripts are read from what Redis says', () => {
  const info =
    '# Commandstats\r\ncmdstat_get:calls=1,usec=2,usec_per_call=2\r\ncmdstat_evalsha:calls=200,usec=9000,usec_per_call=45.00\r\n';
  expect(parseCommandStats(info)).toEqual({ calls: 200, usec: 9000 });
  expect(parseCommandStats('')).toEqual({ calls: 0, usec: 0 });
});
