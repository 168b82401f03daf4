import type { LoadResult } from './load';

/** One target's figures in one scenario: the medians over its trials. */
export interface Row {
  readonly scenario: string;
  readonly target: string;
  readonly connections: number;
  readonly trials: readonly LoadResult[];
  /** CPU seconds of the measured process per 1,000 requests, one a trial. */
  readonly cpuPer1000: readonly number[];
  readonly peakMib: number;
}

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly bun: string;
  readonly stores: string;
  readonly date: string;
  readonly command: string;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Throughput of a row relative to the floor's in the same scenario; null for the floor itself. */
export function ratioToFloor(row: Row, rows: readonly Row[]): number | null {
  const floor = rows.find(
    (other) =>
      other.target === 'bare proxy' && other.scenario === row.scenario && other.connections === row.connections,
  );
  return floor === undefined || floor === row ? null : throughput(row) / throughput(floor);
}

export const throughput = (row: Row): number => median(row.trials.map((trial) => trial.requestsPerSecond));

/** The Markdown table that goes into a README. */
export function renderMarkdown(rows: readonly Row[], machine: Machine): string {
  const lines = [
    `${machine.cpu}, ${machine.cores} cores shared by client, upstream, stores and gateway; Bun ${machine.bun}; ` +
      `${machine.stores}; ${machine.date}. Made by \`${machine.command}\`.`,
    '',
    '| scenario | connections | target | req/s | vs floor | p50 ms | p95 ms | p99 ms | TTFB p99 ms | CPU-s per 1,000 | peak MiB | errors |',
    '|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
  ];
  for (const row of rows) {
    const at = (name: 'p50' | 'p95' | 'p99') =>
      show(median(row.trials.map((trial) => trial.latencyMs?.[name] ?? Number.NaN)));
    const ratio = ratioToFloor(row, rows);
    lines.push(
      `| ${[
        row.scenario,
        row.connections,
        row.target,
        Math.round(throughput(row)).toLocaleString('en'),
        ratio === null ? '' : `${ratio.toFixed(2)}×`,
        at('p50'),
        at('p95'),
        at('p99'),
        show(median(row.trials.flatMap((trial) => (trial.ttfbMs === null ? [] : [trial.ttfbMs.p99])))),
        median(row.cpuPer1000).toFixed(3),
        Math.round(row.peakMib),
        row.trials.reduce((sum, trial) => sum + trial.errors, 0),
      ].join(' | ')} |`,
    );
  }
  return `${lines.join('\n')}\n`;
}

const show = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(2));
