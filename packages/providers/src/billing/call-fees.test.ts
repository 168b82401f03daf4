import { expect, test } from 'bun:test';
import { addUsage } from '@llm0/core/chat/usage';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import { decodeUsage as decodeAnthropic } from '../anthropic/decode-usage';
import { decodeUsage as decodeOpenai } from '../openai/decode-usage';

const priced = { prices: { input: 1_000_000, output: 2_000_000 } };

test('searches and sources that a vendor counts are billed beside the tokens', () => {
  const searched = decodeAnthropic({
    ...{ input_tokens: 10, output_tokens: 5 },
    server_tool_use: { web_search_requests: 3, web_fetch_requests: 2 },
  });
  const sourced = decodeOpenai({ prompt_tokens: 10, completion_tokens: 5, num_sources_used: 2 });
  if (searched === undefined || sourced === undefined) throw new Error('no usage');
  expect(computeCost(searched, priced)).toMatchObject({
    costNanoUsd: 20_000 + 30_000_000,
    detail: { input: 10_000, output: 10_000, fees: 30_000_000 },
  });
  expect(computeCost(sourced, priced).costNanoUsd).toBe(20_000 + 50_000_000);
  expect(computeCost(addUsage(searched, sourced), priced).costNanoUsd).toBe(40_000 + 80_000_000);
});

test('none where none were made', () => {
  const usage = decodeAnthropic({ input_tokens: 10, output_tokens: 5, server_tool_use: { web_search_requests: 0 } });
  expect(usage).not.toHaveProperty('feeNanoUsd');
});
