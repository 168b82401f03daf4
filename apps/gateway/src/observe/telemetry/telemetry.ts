import { passTraces, type Tracing } from '@llm0/core/tracing/request-trace';
import { noObserver, type RecordObserver } from '@llm0/core/tracing/span';

/** Exported signals. */
export interface Telemetry {
  readonly tracing: Tracing;
  /** Observes stored rows, in one of the processes that share a queue. */
  readonly observer: RecordObserver;
  /** Begins to send metrics; `refresh` brings up to date what is only known when somebody asks. */
  start(refresh: () => Promise<void>): void;
  /** Sends what waits, for at most `timeoutMs`. */
  close(timeoutMs: number): Promise<void>;
}

/** No collector: nothing is loaded, made or sent. */
export const noTelemetry: Telemetry = {
  tracing: passTraces,
  observer: noObserver,
  start: () => {},
  close: async () => {},
};
