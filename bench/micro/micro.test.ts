import { describe, expect, test } from 'bun:test';
import { microCases } from './cases';
import { guardCases } from './guard-cases';
import { readCollections } from './measure-allocations';
import { parseCommandStats } from './measure-scripts';
import { tracingCases } from './tracing-cases';

describe('each case', () => {
  test.each([...microCases(), ...tracingCases(), ...guardCases()].map((one) => [one.name, one] as const))(
    '%s does something',
    (_name, { run }) => {
      expect(run()).toBeTruthy();
    },
  );
});

test('calls and time of scripts are read from what Redis says', () => {
  const info =
    '# Commandstats\r\ncmdstat_get:calls=1,usec=2,usec_per_call=2\r\ncmdstat_evalsha:calls=200,usec=9000,usec_per_call=45.00\r\n';
  expect(parseCommandStats(info)).toEqual({ calls: 200, usec: 9000 });
  expect(parseCommandStats('')).toEqual({ calls: 0, usec: 0 });
});

test("reads allocations from the collector's output", () => {
  const log = [
    '[GC<0x1>: START M 900kb => EdenCollection, a=0kb v=0kb => 300kb, p=2.0ms (max 2.0), cycle 2ms END]',
    '[GC<0x1>: START M 1300kb => FullCollection, a=0kb => 200kb, p=3.0ms (max 3.0), cycle 3ms END]',
    '[GC<0x1>: START M 700kb => EdenCollection, a=0kb => 250kb, p=1.0ms (max 3.0), cycle 1ms END]',
  ].join('\n');
  expect(readCollections(log, 100)).toEqual({ kilobytes: 15, stopUs: 60 });
});
