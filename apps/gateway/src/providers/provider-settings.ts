import { type Timeouts, timeoutsOf } from '@llm0/core/routing/attempt-plan';
import type { StoredProvider } from '@llm0/drizzle/queries/routing/providers';

/** What an operator sets for a provider, beside its connection. */
export interface ProviderSettings {
  /** Absent = the gateway's. */
  readonly timeouts?: Timeouts | undefined;
  /** It takes no new requests. */
  readonly isDrained?: boolean;
  /** Requests under way in all processes; absent = no limit. */
  readonly maxConcurrency?: number | null;
  /** Interval of its checks; absent = none. */
  readonly healthCheckIntervalMs?: number | null;
}

export const storedSettings = (row: StoredProvider): ProviderSettings => ({
  timeouts: timeoutsOf({ requestMs: row.requestTimeoutMs, answerMs: row.answerTimeoutMs }),
  isDrained: row.drain,
  maxConcurrency: row.maxConcurrency,
  healthCheckIntervalMs: row.healthCheckIntervalMs,
});
