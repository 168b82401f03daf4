import { expect, test } from 'bun:test';
import { reasonOf, requestsOf } from './prepare-failovers';

const failed = {
  ...{
    original_provider: 'openai',
    original_model: 'gpt-4o',
    fallback_provider: 'anthropic',
    fallback_model: 'claude',
  },
  ...{ trigger_reason: 'server_error', trigger_status_code: 500, fallback_succeeded: true },
  ...{ times: 1, first_at: '2026-11-28T00:00:00Z', last_at: '2026-11-28T00:00:00Z', lost_ms: 10 },
};

test('a failover says why in words, and leads to its requests', () => {
  const skipped = { ...failed, trigger_reason: 'breaker_open', trigger_status_code: null, fallback_succeeded: false };
  const limited = { ...failed, trigger_reason: 'rate_limited', trigger_status_code: 429 };
  expect([failed, skipped, limited].map(reasonOf)).toEqual(['failed 500', 'paused', 'rate limited 429']);
  const targets = 'openai/gpt-4o>anthropic/claude';
  expect(requestsOf(failed)).toEqual({ switch: `${targets}>server_error>500>answered` });
  expect(requestsOf(skipped)).toEqual({ switch: `${targets}>breaker_open>>failed` });
});
