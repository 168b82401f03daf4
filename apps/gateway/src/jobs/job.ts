import type { JsonObject } from '@llm0/core/chat/json';
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { RecordObserver } from '@llm0/core/tracing/span';
import type { Db } from '@llm0/drizzle/client';
import type { LogInsertOptions } from '@llm0/drizzle/queries/logs/log-insert';
import type { Logger } from 'pino';

/** Writes rows of the log, wherever it does so. */
export interface RowStore {
  /** See `storeLogRecords`. */
  storeRecords(records: readonly string[], options: LogInsertOptions): Promise<unknown>;
}

/** Services of jobs. */
export interface JobContext {
  readonly db: Db;
  readonly hotStore: Pick<HotStore, 'read' | 'acknowledge' | 'handBack' | 'depth' | 'reap' | 'counters'> &
    Pick<HotStore, 'forgetBudget'>;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly nowMs: () => number;
  /** Pause of the log's drain after an incomplete batch; absent = by its size. */
  readonly lingerMs?: number | undefined;
  /** By default, this thread. */
  readonly rows?: RowStore;
  /** Stores and counts for the log drain: the gateway's metrics, or nothing. */
  readonly onDrained?: (records: number) => void;
  /** Takes the rows that were stored: spans are made of them. */
  readonly observer?: RecordObserver;
  /** Aborted when this process stops, or another one leads: a job that waits for others ends. */
  readonly signal?: AbortSignal;
  /** Counts a run of a job. */
  readonly onRun?: (job: string, outcome: 'ok' | 'error' | 'idle', durationMs: number) => void;
}

/** Result of a run; null without work, which writes no row. */
export type JobOutcome = { readonly message: string; readonly metadata?: JsonObject; readonly ok?: boolean } | null;

/** Background work of the one elected gateway. */
export interface Job {
  /** `event_type` of its rows in `system_logs`. */
  readonly name: string;
  readonly intervalMs: number;
  run(context: JobContext): Promise<JobOutcome>;
}
