import type { StoredRow } from './build-row-span';

/** A streamed answer of a chat, as sinks read it. */
export const storedRow = (more: Partial<StoredRow> = {}): StoredRow => ({
  ...{ id: Bun.randomUUIDv7(), created_at: '2026-11-26T10:33:37.123+00:00', project_id: 'p', api_key_id: 'k' },
  ...{ client_request_id: null, dialect: 'openai-chat', model: 'gpt-one', requested_model: 'fast' },
  ...{ provider: 'openai', final_provider: 'bedrock', tokens_in: 10, tokens_out: 20, tokens_cache_read: 3 },
  ...{ tokens_cache_write: 0, tokens_reasoning: 5, cost_usd: 0.000012345, saved_usd: 0 },
  cost_detail: { input: 2345, cache_read: 1000, output: 4000, reasoning: 5000, price_source: 'seed' },
  ...{ cost_estimated: false, latency_ms: 123.456, overhead_ms: 1.5, upstream_ms: 120.25, ttft_ms: 45.75 },
  ...{ stream: true, cache_hit: false, semantic_cache_hit: false, similarity_score: null, failover_count: 1 },
  ...{ status: 'success', http_status: 200, error_code: null, error_message: null, customer_id: 'c1' },
  ...{ labels: { team: 'search' }, refused_count: null, matched_by: null, dropped_params: null },
  ...{ run_id: 'run-1', trace_id: null },
  ...more,
});
