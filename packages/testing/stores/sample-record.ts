import type { LogRecord } from '@llm0/core/logs/log-record';

/** A plain, successful miss; say what matters to the test. */
export function sampleRecord(given: Partial<LogRecord> = {}): LogRecord {
  return {
    id: Bun.randomUUIDv7(),
    createdAtMs: Date.now(),
    projectId: '00000000-0000-4000-8000-000000000001',
    apiKeyId: '00000000-0000-4000-8000-0000000000a1',
    dialect: 'openai-chat',
    model: 'model-a',
    requestedModel: 'model-a',
    provider: 'alpha',
    finalProvider: 'alpha',
    tokensIn: 10,
    tokensOut: 20,
    tokensCacheRead: 3,
    tokensCacheWrite: 2,
    tokensReasoning: 5,
    costNanoUsd: 12_345,
    savedNanoUsd: 0,
    costEstimated: false,
    latencyMs: 123.456,
    overheadMs: 1.5,
    upstreamMs: 120.25,
    ttftMs: 45.75,
    stream: true,
    cacheHit: false,
    semanticCacheHit: false,
    failoverCount: 0,
    status: 'success',
    httpStatus: 200,
    ...given,
  };
}
