import { expect, test } from 'bun:test';
import { axisLabels, axisSteps } from './prepare-axis';

test('counts have whole ticks', () => {
  expect(axisSteps('count')?.every(Number.isInteger)).toBe(true);
  expect(axisSteps('count')?.slice(0, 5)).toEqual([1, 2, 5, 10, 20]);
  expect(axisSteps('usd')).toBeUndefined();
});

test('money has two decimals or more, as many on the whole axis', () => {
  expect(axisLabels('usd', [0, 0.05, 0.1])).toEqual(['$0.00', '$0.05', '$0.10']);
  expect(axisLabels('usd', [0, 0.0005, 0.001])).toEqual(['$0.0000', '$0.0005', '$0.0010']);
  expect(axisLabels('usd', [0, 0.1, 0.2, 0.30000000000000004])).toEqual(['$0.00', '$0.10', '$0.20', '$0.30']);
  expect(axisLabels('usd', [0, 5, 10])).toEqual(['$0', '$5', '$10']);
  expect(axisLabels('usd', [0, 2500, 5000])).toEqual(['$0', '$2.5K', '$5K']);
});

test('durations have one unit on the whole axis', () => {
  expect(axisLabels('ms', [0, 500, 1000])).toEqual(['0', '0.5 s', '1 s']);
  expect(axisLabels('ms', [0, 200, 400])).toEqual(['0', '200 ms', '400 ms']);
});
