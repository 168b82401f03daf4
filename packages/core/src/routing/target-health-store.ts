/** A process's news about a target. `target` is its text form. */
export type HealthReport =
  /** Its breaker opened, for the `trips`-th time in a row. */
  | { readonly type: 'open'; readonly target: string; readonly forMs: number; readonly trips: number }
  /** An attempt at an open or half-open target went well. */
  | { readonly type: 'close'; readonly target: string }
  /** An operator says that it is well: breaker and cool-down end. */
  | { readonly type: 'restore'; readonly target: string }
  /** 429, or 5xx with a time: not to be asked for so long. A longer cool-down stays. */
  | { readonly type: 'cool'; readonly target: string; readonly forMs: number }
  /** May this process send the one probe? Only while half-open, and while nobody else may; lasts `PROBE_LEASE_MS`. */
  | { readonly type: 'claim'; readonly target: string };

/** Times in it count from then, monotonic milliseconds. */
export interface UntoldReport {
  readonly report: HealthReport;
  readonly atMs: number;
}

/** As it is to be told now. */
export const reportOf = ({ report, atMs }: UntoldReport, nowMs: number): HealthReport =>
  'forMs' in report ? { ...report, forMs: Math.max(0, report.forMs - (nowMs - atMs)) } : report;

/** A target all processes know to be in trouble; those that are not listed are well. */
export interface SharedHealth {
  readonly target: string;
  /** Absent = closed. 0 = half-open. */
  readonly openForMs?: number;
  readonly trips: number;
  /** Milliseconds left of a cool-down; 0 = none. */
  readonly coolForMs: number;
  /** Remaining milliseconds in which this process may probe; 0 = it may not. */
  readonly probeForMs: number;
}

/** A probe that nobody heard of again is somebody else's after this. */
export const PROBE_LEASE_MS = 30_000;
/** A half-open target nobody asks for is forgotten: then it is as good as any. */
export const HALF_OPEN_KEPT_MS = 600_000;
/** Targets in trouble that are remembered; further ones are each process's own affair. */
export const MAX_SHARED_TARGETS = 5_000;

/**
 * Shares target health between processes, in the background only. Failure policy: `exchange` throws without the store,
 * and each process uses its own observations.
 */
export interface TargetHealthStore {
  /**
   * Takes the reports in, in order, and gives all targets in trouble as they are after that; undefined where no other
   * process is there to tell of any.
   */
  exchange(reports: readonly HealthReport[]): Promise<readonly SharedHealth[] | undefined>;
  close(): void;
}

/** Without Redis there is one process. */
export const noOtherProcess: TargetHealthStore = { exchange: async () => undefined, close: () => {} };
