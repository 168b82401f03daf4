import type { DecodedRecord } from '../logs/decode-log-record';
import type { ToolCallRecord } from '../logs/tool-call-record';

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** One span, as far as no wire format is concerned. Times are epoch milliseconds, fractional. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  /** The parent is another program's. */
  readonly isParentRemote: boolean;
  readonly state?: string;
  readonly kind: 'server' | 'client';
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** Set on failure: the kind of error. */
  readonly error?: string;
  readonly events?: readonly SpanEvent[];
}

export interface SpanEvent {
  readonly name: string;
  readonly atMs: number;
  readonly attributes: Attributes;
}

/** Rows that were not there before, once they are committed; requests with the text that they were read from. */
export interface StoredRecords {
  readonly requests: readonly DecodedRecord[];
  readonly calls: readonly ToolCallRecord[];
}

/** Receives freshly stored rows for export. Never throws, never waits. */
export interface RecordObserver {
  take(stored: StoredRecords): void;
}

export const noObserver: RecordObserver = { take: () => {} };
