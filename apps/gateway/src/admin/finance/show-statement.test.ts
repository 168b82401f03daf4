import { expect, test } from 'bun:test';
import type { Statement } from './load-statement';
import { statementCsv } from './show-statement';

const sums = {
  ...{ requests: 3, costNanoUsd: 1, estimatedNanoUsd: null, previousNanoUsd: 500_000_000, changeNanoUsd: -499_999_999 },
  ...{ changePercent: -99.9, isNew: false, savedNanoUsd: 0, savedExactNanoUsd: null, savedSemanticNanoUsd: null },
  ...{ savedVendorNanoUsd: null, forecast: null, capNanoUsd: null },
};
const RANGE = { fromMs: 0, toMs: 1 };

test('names are text whatever they look like, and amounts below zero are numbers', () => {
  const names = ['-2+3+cmd|calc', '-5', '=1', '＝1', 'a;=1'];
  const statement = {
    question: { month: '2027-10', timeZone: 'UTC', by: 'customer', filter: {}, within: {}, nowMs: 0 },
    ...{ range: RANGE, compared: RANGE, notes: [], dataFromMs: null, caps: [], isFinal: true, attribution: null },
    ...{ rows: names.map((name) => ({ ...sums, group: name, name })), total: sums },
  } as unknown as Statement;
  const [head = '', ...lines] = statementCsv(statement, '1').trimEnd().split('\r\n');
  const columns = head.split(',');
  const cell = (line: string, name: string) => line.split(',')[columns.indexOf(name)];
  expect(lines.map((line) => cell(line, 'name'))).toEqual(["'-2+3+cmd|calc", "'-5", "'=1", "'＝1", '"a;=1"', 'Total']);
  expect(lines.map((line) => cell(line, 'group'))).toEqual(["'-2+3+cmd|calc", "'-5", "'=1", "'＝1", '"a;=1"', '']);
  for (const line of lines)
    expect([cell(line, 'change_usd'), cell(line, 'change_percent')]).toEqual(['-0.499999999', '-99.9']);
});
