import type { LogRecord } from '@llm0/core/logs/log-record';

export const TRACE = '0af7651916cd43dd8448eb211c80319c';

/** A streamed answer of a chat, in the caller's trace. */
export const requestRow = (more: Partial<LogRecord> = {}): LogRecord => ({
  ...{ id: crypto.randomUUID(), createdAtMs: 1_700_000_000_010, projectId: 'p', apiKeyId: 'k', dialect: 'openai-chat' },
  ...{ model: 'gpt-one', requestedModel: 'fast', provider: 'openai', finalProvider: 'openai' },
  ...{ tokensIn: 10, tokensOut: 5, tokensCacheRead: 0, tokensCacheWrite: 0, tokensReasoning: 0 },
  ...{ costNanoUsd: 20_000, savedNanoUsd: 0, costEstimated: false, latencyMs: 100.25 },
  ...{ stream: true, ttftMs: 40, cacheHit: false, semanticCacheHit: false, failoverCount: 0 },
  ...{ status: 'success', httpStatus: 200, traceId: TRACE, trace: { startMs: 1_700_000_000_000.5, state: 'rojo=1' } },
  attempts: [{ provider: 'openai', model: 'gpt-one', outcome: 'ok', status: 200, startMs: 5, latencyMs: 60, span: 1 }],
  ...more,
});
