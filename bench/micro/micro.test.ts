import { describe, expect, test } from 'bun:test';
import { microCases } from './cases';
import { parseCommandStats } from './measure-scripts';
import { tracingCases } from './tracing-cases';

describe('each case', () => {
  test.each([...microCases(), ...tracingCases()].map((one) => [one.name, one] as const))(
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
