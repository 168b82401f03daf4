import { passTraces, type Tracing } from '@llm0/core/tracing/request-trace';
import { noObserver, type RecordObserver } from '@llm0/core/tracing/span';

/** Exported signals. */
export interface Telemetry {
  readonly tracing: Tracing;
  /** Observes stored rows, in one of the processes that share a queue. */
  readonly observer: RecordObserver;
  /** Starts metrics; `refresh` updates values that are computed on demand. */
  start(refresh: () => Promise<void>): void;
  /** Sends waiting data for at most `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
}

/** Without a collector, nothing is loaded or sent. */
export const noTelemetry: Telemetry = {
  tracing: passTraces,
  observer: noObserver,
  start: () => {},
  close: async () => {},
};
