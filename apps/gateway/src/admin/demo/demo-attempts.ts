import type { LogAttempt, LogRecord } from '@llm0/core/logs/log-record';
import type { Target } from '@llm0/core/routing/target';

type Attempted = Pick<LogRecord, 'model' | 'provider'>;

/** Attempts of an answered request, and the time that others than the last one took. */
export interface Effort {
  readonly lostMs: number;
  readonly fields: Pick<LogRecord, 'attempts' | 'finalProvider'> & Partial<Pick<LogRecord, 'model' | 'failoverCount'>>;
}

/** Start of the first attempt; the rest of the overhead comes after the answer. */
const STARTS_MS = 0.4;

export function attemptOf({ model, provider = '' }: Attempted, latencyMs: number): Effort {
  const attempts: LogAttempt[] = [{ provider, model, outcome: 'ok', status: 200, startMs: STARTS_MS, latencyMs }];
  return { lostMs: 0, fields: { attempts, finalProvider: provider } };
}

/** The only attempt took as long as it may. */
export function timedOut({ model, provider = '' }: Attempted, timeoutMs: number) {
  const attempts: LogAttempt[] = [{ provider, model, outcome: 'timeout', startMs: STARTS_MS, latencyMs: timeoutMs }];
  return { attempts, latencyMs: timeoutMs + 2 * STARTS_MS };
}

/** No other target could serve it: two attempts failed with a pause between them. */
export function failedAttempts({ model, provider = '' }: Attempted, latencyMs: number): LogAttempt[] {
  const endMs = latencyMs - STARTS_MS;
  const failed = { provider, model, outcome: 'server_error', status: 503 };
  const againMs = 0.6 * latencyMs;
  return [
    { ...failed, startMs: STARTS_MS, latencyMs: 0.5 * latencyMs },
    { ...failed, startMs: againMs, latencyMs: endMs - againMs },
  ];
}

/** The first target was overloaded or open; the next one of its chain answered, if it has one. */
export function failOver(
  { model, provider = '' }: Attempted,
  { attemptMs, isOpen, to }: { readonly attemptMs: number; readonly isOpen: boolean; readonly to: Target | undefined },
): Effort {
  if (to === undefined) return attemptOf({ model, provider }, attemptMs);
  const lostMs = isOpen ? 0 : 80;
  const first = { provider, model, startMs: STARTS_MS, latencyMs: lostMs };
  const attempts: LogAttempt[] = [
    isOpen ? { ...first, outcome: 'breaker_open' } : { ...first, outcome: 'rate_limited', status: 429 },
    {
      ...{ provider: to.provider, model: to.model, outcome: 'ok', status: 200 },
      ...{ startMs: STARTS_MS + lostMs, latencyMs: attemptMs },
    },
  ];
  return { lostMs, fields: { attempts, model: to.model, finalProvider: to.provider, failoverCount: 1 } };
}
