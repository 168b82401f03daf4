import { describe, expect, test } from 'bun:test';
import type { Machine } from '../machine/describe-machine';
import { judgeGoals } from './goals';
import { renderChart } from './render-chart';
import { renderMarkdown } from './render-markdown';
import { renderTable } from './render-table';
import {
  cpuPer1000,
  findRow,
  latencyOf,
  mainThreadMicros,
  median,
  type Row,
  ratioTo,
  type Trial,
  throughputOf,
} from './rows';

const MACHINE: Machine = {
  cpu: 'A CPU',
  cores: 2,
  memoryGib: 8,
  system: 'linux 6',
  bun: '1.4.4',
  servers: { Redis: '7.0' },
  stores: 'one process, embedded stores',
  commit: 'abc',
  date: '2026-01-02',
  command: 'bun run bench',
};

function trialOf(requestsPerSecond: number, ms: number): Trial {
  const latencyMs = { p50: ms, p90: ms, p95: ms, p99: 2 * ms, p999: 3 * ms };
  return {
    load: {
      ...{ requests: 1000, requestsPerSecond, latencyMs, ttfbMs: null, errors: 0, errorKinds: {} },
      ...{ clientCpuSeconds: 0.5, fromMs: 0, toMs: 1000 },
    },
    cpuSeconds: { gateway: 0.2, client: 0.5 },
    mainThreadSeconds: 0.1,
    memory: { peakMib: 100, endMib: 90 },
  };
}

const rowOf = (target: string, rates: readonly number[], more: Partial<Row> = {}): Row => ({
  ...{ scenario: 'hit', target, connections: 10, process: target },
  trials: rates.map((rate) => trialOf(rate, 1000 / rate)),
  ...more,
});

const ROWS = [rowOf('bare proxy', [1000, 2000, 9000]), rowOf('gateway', [1300, 1200, 500])];
const [FLOOR_ROW, OURS] = ROWS as [Row, Row];

test('a median is the middle, or between the two in the middle', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(median([])).toBeNaN();
});

describe('rows', () => {
  test('show medians of their trials', () => {
    expect(throughputOf(OURS)).toBe(1200);
    expect(latencyOf(FLOOR_ROW, 'p50')).toBe(0.5);
    expect(cpuPer1000(OURS, 'gateway')).toBeCloseTo(0.2);
    expect(cpuPer1000(OURS, 'redis')).toBeNaN();
    expect(mainThreadMicros(OURS)).toBeCloseTo(100);
  });

  test('are compared with the floor under the same load only', () => {
    expect(ratioTo(OURS, findRow(ROWS, OURS, { target: 'bare proxy' }))).toBe(0.6);
    expect(findRow(ROWS, { ...OURS, connections: 50 }, { target: 'bare proxy' })).toBeUndefined();
    expect(ratioTo(FLOOR_ROW, FLOOR_ROW)).toBeNull();
  });
});

describe('goals', () => {
  test('are judged where the run has what they need', () => {
    const misses = ROWS.map((row) => ({ ...row, scenario: 'miss' }));
    const goals = judgeGoals(misses);
    expect(goals.find(({ what }) => what.includes('req/s'))).toMatchObject({ value: '0.6×', isMet: true });
    expect(goals.find(({ what }) => what.startsWith('p50'))).toMatchObject({ value: '1.667×', isMet: true });
    expect(judgeGoals(ROWS)).toMatchObject([{ value: '0.6×', isMet: false }]);
    expect(judgeGoals([OURS])).toEqual([]);
    expect(judgeGoals([FLOOR_ROW])).toEqual([]);
  });

  test('of latency count at ten connections only', () => {
    const many = ROWS.map((row) => ({ ...row, scenario: 'miss', connections: 50 }));
    expect(judgeGoals(many).map(({ what }) => what)).toEqual(['req/s, of the floor']);
  });

  test('of a fixed rate compare the overhead', () => {
    const at = (target: string, ms: number) => rowOf(target, [1000 / ms], { scenario: 'sustained 500', rate: 500 });
    const goals = judgeGoals([at('direct', 1), at('bare proxy', 1.5), at('gateway', 2.25)]);
    expect(goals.map(({ what, value, isMet }) => [what, value, isMet])).toEqual([
      ["added p50, of the floor's", '2.5×', true],
      ["added p99, of the floor's", '2.5×', true],
    ]);
  });

  test('of memory fail only on a significant slope', () => {
    const endurance = (mibPerHour: number) =>
      rowOf('gateway', [100], { scenario: 'endurance', slope: { mibPerHour, marginMibPerHour: 2 } });
    const isFlat = (row: Row) => judgeGoals([row]).find(({ what }) => what.startsWith('slope'))?.isMet;
    expect(isFlat(endurance(1.5))).toBe(true);
    expect(isFlat(endurance(2.5))).toBe(false);
  });
});

describe('the report', () => {
  test('tells the machine, every row, the goals and each process', () => {
    const markdown = renderMarkdown({ machine: MACHINE, rows: ROWS, notes: ['ledger: even'] });
    expect(markdown).toContain('A CPU, 2 cores');
    expect(markdown).toContain('Redis 7.0');
    expect(markdown).toMatch(/\| hit \| 10 \| gateway \| 1,200 \| 0\.60× \| 0\.83 \|/);
    expect(markdown).toContain('| hit, 10 connections | req/s, of the floor | 0.6× | ≥ 0.8× | ≥ 1.1× | **no** |');
    expect(markdown).toContain('| hit | 10 | gateway | 0.200 | 0.500 |');
    expect(markdown).toEndWith('- ledger: even\n');
  });

  test('tells what is added to the upstream at a fixed rate', () => {
    const rows = [rowOf('direct', [1000], { rate: 500 }), rowOf('gateway', [400], { rate: 500 })];
    const markdown = renderMarkdown({ machine: MACHINE, rows, notes: [] });
    expect(markdown).toContain('| hit | gateway | 1.50 | 1.50 | 3.00 | 100.00 |');
  });

  test('names what went wrong', () => {
    const [trial = trialOf(1, 1)] = OURS.trials;
    const failed = { ...trial, load: { ...trial.load, errors: 3, errorKinds: { 'status 503': 2, connection: 1 } } };
    const markdown = renderMarkdown({ machine: MACHINE, rows: [{ ...OURS, trials: [failed] }], notes: [] });
    expect(markdown).toContain('- hit, gateway, 10 connections: status 503: 2, connection: 1');
  });

  test('every line of a table has as many cells', () => {
    const table = renderTable(['a', 'b'], [['x|y', '1']], ['a']);
    expect(table).toBe('| a | b |\n|---|---:|\n| x\\|y | 1 |');
  });
});

describe('the chart', () => {
  test('has a bar for each row, the longest for the fastest', () => {
    const svg = renderChart(ROWS, 'Speed <here>');
    const widths = [...svg.matchAll(/<rect x="250" y="\d+" width="(\d+)"/g)].map((match) => Number(match[1]));
    expect(widths).toEqual([520, 312]);
    expect(svg).toContain('bare proxy: 2,000/s');
    expect(svg).toContain('Speed &lt;here&gt;');
  });

  test('leaves out what ran at a fixed rate', () => {
    expect(renderChart([{ ...OURS, rate: 100 }], 'x')).not.toContain('gateway');
  });
});
