/** A process's news about a target. `target` is its text form. */
export type HealthReport =
  /** Its breaker opened, for the `trips`-th time in a row. */
  | { readonly type: 'open'; readonly target: string; readonly forMs: number; readonly trips: number }
  /** An attempt at an open or half-open target went well. */
  | { readonly type: 'close'; readonly target: string }
  /** An operator's restore: ends breaker and cool-down. */
  | { readonly type: 'restore'; readonly target: string }
  /** 429, or 5xx with a time: a cool-down. A longer one stays. */
  | { readonly type: 'cool'; readonly target: string; readonly forMs: number }
  /** Requests the single probe. Granted only in half-open state and to one process; lasts `PROBE_LEASE_MS`. */
  | { readonly type: 'claim'; readonly target: string };

/** Times in it count from then, monotonic milliseconds. */
export interface UntoldReport {
  readonly report: HealthReport;
  readonly atMs: number;
}

/** The report relative to now. */
export const reportOf = ({ report, atMs }: UntoldReport, nowMs: number): HealthReport =>
  'forMs' in report ? { ...report, forMs: Math.max(0, report.forMs - (nowMs - atMs)) } : report;

/** A target with failures in the shared state; unlisted ones are healthy. */
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

/** Probe lease; another process may probe after it expires. */
export const PROBE_LEASE_MS = 30_000;
/** An unused half-open target is dropped after this time and counts as healthy. */
export const HALF_OPEN_KEPT_MS = 600_000;
/** Targets in trouble that are remembered; further ones are each process's own affair. */
export const MAX_SHARED_TARGETS = 5_000;

/**
 * Shares target health between processes, in the background only. Failure policy: `exchange` throws without the store,
 * and each process uses its own observations.
 */
export interface TargetHealthStore {
  /** Applies the reports in order and returns all targets with failures; undefined without other processes. */
  exchange(reports: readonly HealthReport[]): Promise<readonly SharedHealth[] | undefined>;
  close(): void;
}

/** Without Redis there is one process. */
export const noOtherProcess: TargetHealthStore = { exchange: async () => undefined, close: () => {} };
