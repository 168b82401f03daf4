import type { LogRecord } from '@llm0/core/logs/log-record';

const DAY_MS = 86_400_000;

/** Failures with their frequencies. Messages are those of real rows. */
const FAILURES = [
  { share: 0.005, status: 'error', httpStatus: 502, errorCode: 'upstream_error' },
  { share: 0.003, status: 'error', httpStatus: 504, errorCode: 'upstream_timeout' },
  {
    share: 0.004,
    status: 'error',
    httpStatus: 400,
    errorCode: 'invalid_request',
    errorMessage: 'messages: is required.',
  },
  {
    share: 0.01,
    status: 'rate_limited',
    httpStatus: 429,
    errorCode: 'rate_limit_exceeded',
    errorMessage: 'This API key exceeded its request rate. Try again in 1 s.',
  },
  {
    share: 0.006,
    status: 'aborted',
    httpStatus: 499,
    errorCode: 'client_closed',
    errorMessage: 'The caller closed the connection.',
  },
] as const;
/** Error that callers get during the outage. */
export const OUTAGE = { ...FAILURES[0], httpStatus: 503, errorCode: 'upstream_unavailable' } as const;

export const NOTHING_COUNTED = {
  tokensIn: 0,
  tokensOut: 0,
  tokensCacheRead: 0,
  tokensCacheWrite: 0,
  tokensReasoning: 0,
  costNanoUsd: 0,
  savedNanoUsd: 0,
  costEstimated: false,
  failoverCount: 0,
};

export type Failure = (typeof FAILURES)[number] | typeof OUTAGE;

/** What the vendors write while they fail. */
const VENDOR_ERRORS: Readonly<Record<string, string>> = {
  openai: 'The server had an error while processing your request. Sorry about that!',
  anthropic: 'Internal server error',
  gemini: 'An internal error has occurred. Please retry.',
};

export function pickFailure(random: () => number): Failure | undefined {
  let at = random();
  for (const failure of FAILURES) {
    at -= failure.share;
    if (at < 0) return failure;
  }
  return undefined;
}

/** Fields of a row that ended so. Failures of a provider name the target and the cause; `timeoutMs` is the gateway's. */
export function describeFailure(
  failure: Failure,
  { provider, model, timeoutMs }: { provider: string; model: string; timeoutMs: number },
) {
  const { share: _, ...ending } = failure;
  if ('errorMessage' in ending) return ending;
  const cause =
    ending.httpStatus === 504 ? `did not answer within ${timeoutMs} ms.` : `answered: ${VENDOR_ERRORS[provider] ?? ''}`;
  return { ...ending, errorMessage: `${provider}/${model} ${cause}` };
}

/** A customer's limit, as the sample stores it. */
export interface DemoLimit {
  readonly projectId: string;
  readonly customerId: string;
  readonly dailyNanoUsd: number;
}

/** Refuses requests of a customer that spent its limit of the day (UTC). */
export class DailyLimit {
  constructor(private readonly limit: DemoLimit | undefined) {}
  private day = 0;
  private spentNanoUsd = 0;

  /** Records in the order of their times. */
  apply(record: LogRecord): LogRecord {
    if (this.limit === undefined) return record;
    const { projectId, customerId, dailyNanoUsd } = this.limit;
    if (record.projectId !== projectId || record.customerId !== customerId) return record;
    const day = Math.floor(record.createdAtMs / DAY_MS);
    if (day !== this.day) this.spentNanoUsd = 0;
    this.day = day;
    if (this.spentNanoUsd >= dailyNanoUsd) return refused(record);
    this.spentNanoUsd += record.costNanoUsd;
    return record;
  }
}

/** Limits refuse before caches and providers, so only the request itself is left. */
function refused(record: LogRecord): LogRecord {
  const { id, createdAtMs, projectId, apiKeyId, dialect, requestedModel, stream, customerId, labels } = record;
  const ms = record.overheadMs ?? 1;
  return {
    ...{ id, createdAtMs, projectId, apiKeyId, dialect, requestedModel, stream, customerId, labels },
    ...NOTHING_COUNTED,
    model: requestedModel,
    cacheHit: false,
    semanticCacheHit: false,
    latencyMs: ms,
    overheadMs: ms,
    status: 'cap_exceeded',
    httpStatus: 429,
    errorCode: 'customer_spend_limit',
    errorMessage:
      'This customer reached its spend limit for today: $5.00 of $5.00 is spent. It resets at 00:00 UTC. The operator can raise it.',
  };
}
