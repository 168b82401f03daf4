import type { LoadResult } from '../load/load-job';
import type { Slope } from '../machine/sample-memory';

/** One measured load of one target. */
export interface Trial {
  readonly load: LoadResult;
  /** CPU seconds of each process meanwhile, the client's among them. */
  readonly cpuSeconds: Readonly<Record<string, number>>;
  /** Of the target's JavaScript; null where its process is not known. */
  readonly mainThreadSeconds: number | null;
  /** Resident memory of the target under load; null where its process is not ours. */
  readonly memory: { readonly peakMib: number; readonly endMib: number } | null;
}

/** What the gateway's own rows say of the same trials; milliseconds. */
export interface ServerSide {
  readonly requests: number;
  readonly exactHits: number;
  readonly semanticHits: number;
  readonly latency: ServerPercentiles;
  readonly overhead: ServerPercentiles;
  readonly upstream: ServerPercentiles;
}

export type ServerPercentiles = Readonly<Record<'p50' | 'p95' | 'p99', number | null>>;

/** One target's trials of one scenario. */
export interface Row {
  readonly scenario: string;
  readonly target: string;
  readonly connections: number;
  /** Requests per second that were asked for; absent = as fast as it goes. */
  readonly rate?: number;
  /** The process whose CPU counts as the target's. */
  readonly process?: string;
  readonly trials: readonly Trial[];
  readonly server?: ServerSide;
  readonly slope?: Slope;
}

export const FLOOR = 'bare proxy';
export const DIRECT = 'direct';
export const GATEWAY = 'gateway';

/** NaN for nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) return sorted[middle] ?? Number.NaN;
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

export const throughputOf = (row: Row): number => median(row.trials.map(({ load }) => load.requestsPerSecond));

export const errorsOf = (row: Row): number => row.trials.reduce((sum, { load }) => sum + load.errors, 0);

/** Per cent of its requests that were answered as expected. */
export function answeredPercent(row: Row): number {
  const answered = row.trials.reduce((sum, { load }) => sum + load.requests, 0);
  return (100 * answered) / Math.max(1, answered + errorsOf(row));
}

/** Milliseconds; NaN where nothing was measured. */
export function latencyOf(row: Row, name: keyof NonNullable<LoadResult['latencyMs']>): number {
  return median(row.trials.flatMap(({ load }) => (load.latencyMs === null ? [] : [load.latencyMs[name]])));
}

export function ttfbOf(row: Row, name: keyof NonNullable<LoadResult['ttfbMs']>): number {
  return median(row.trials.flatMap(({ load }) => (load.ttfbMs === null ? [] : [load.ttfbMs[name]])));
}

/** CPU seconds of one process per 1,000 requests; NaN where it was not there. */
export function cpuPer1000(row: Row, process: string): number {
  const each = row.trials.flatMap(({ cpuSeconds, load }) => {
    const used = cpuSeconds[process];
    return used === undefined || load.requests === 0 ? [] : [(used / load.requests) * 1000];
  });
  return median(each);
}

/** Microseconds of the target's main thread per request; NaN where it is not known. */
export function mainThreadMicros(row: Row): number {
  const each = row.trials.flatMap(({ mainThreadSeconds, load }) =>
    mainThreadSeconds === null || load.requests === 0 ? [] : [(mainThreadSeconds / load.requests) * 1e6],
  );
  return median(each);
}

export const peakMibOf = (row: Row): number => median(row.trials.flatMap(({ memory }) => memory?.peakMib ?? []));
export const endMibOf = (row: Row): number => median(row.trials.flatMap(({ memory }) => memory?.endMib ?? []));

/** The row of another target (or scenario) under the same load. */
export function findRow(rows: readonly Row[], like: Row, other: Partial<Pick<Row, 'scenario' | 'target'>>) {
  const { scenario, target } = { ...like, ...other };
  return rows.find(
    (row) =>
      row.scenario === scenario &&
      row.target === target &&
      row.connections === like.connections &&
      row.rate === like.rate,
  );
}

/** Throughput relative to another row's; null where there is none, or for the row itself. */
export function ratioTo(row: Row, other: Row | undefined): number | null {
  return other === undefined || other === row ? null : throughputOf(row) / throughputOf(other);
}
