import type { TelemetrySettings } from '../encode-otlp';
import type { Window } from '../otlp/encode-metrics';
import type { LossReason, TryFailure } from '../otlp-client';
import type { Family } from '../registry-metrics';

export type Signal = 'traces' | 'metrics';

/** Start options of the thread. */
export interface ExportSettings {
  readonly settings: TelemetrySettings;
  readonly version: string;
  /** Identity of the process, for both threads. */
  readonly instanceId: string;
}

/** Rows that were stored, as texts: reading them is the thread's work. */
export interface RowsMessage {
  readonly id: number;
  /** JSON arrays of `LogRecord` and `ToolCallRecord`. */
  readonly requests: string;
  readonly calls: string;
  /** `modelKey`s of those of their models that the operator knows. */
  readonly known: readonly string[];
}

/** Bodies by request id: JSON text, redacted and bounded. */
export type Bodies = ReadonlyMap<string, { readonly request: string | null; readonly response: string | null }>;

export type ToThread =
  | ({ readonly type: 'settings' } & ExportSettings)
  | ({ readonly type: 'rows' } & RowsMessage)
  | { readonly type: 'metrics'; readonly families: readonly Family[]; readonly window: Window }
  | { readonly type: 'bodies'; readonly id: number; readonly bodies: Bodies }
  | { readonly type: 'close'; readonly timeoutMs: number };

export type FromThread =
  /** Rows are the thread's to bound from now on. */
  | { readonly type: 'received'; readonly id: number }
  | { readonly type: 'taken'; readonly signal: Signal; readonly items: number }
  | ({ readonly type: 'lost'; readonly signal: Signal } & Loss)
  /** A request to the collector failed; its content may still arrive. */
  | { readonly type: 'failed'; readonly signal: Signal; readonly reason: TryFailure; readonly detail: string }
  | { readonly type: 'wanted'; readonly id: number; readonly requestIds: readonly string[] }
  | { readonly type: 'closed' };

/** Lost items and the reason. */
export interface Loss {
  readonly items: number;
  readonly reason: LossReason;
  readonly detail: string;
}
