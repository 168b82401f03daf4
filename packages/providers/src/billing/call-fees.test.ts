import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { addUsage } from '@llm0/core/chat/usage';
import { computeCost } from '@llm0/core/pricing/compute-cost';
import { decodeUsage as decodeAnthropic, MessageUsage } from '../anthropic/decode-usage';
import { decodeUsage as decodeOpenai } from '../openai/decode-usage';
import { openai } from '../openai/index';
import { decodeResponse } from '../openai/responses/decode-response';
import { ANY_REQUEST, sse } from '../provider.cases';

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

describe('hosted tools of the Responses API', () => {
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const imageGen = {
    ...{ input_tokens: 150, input_tokens_details: { text_tokens: 50, image_tokens: 100 } },
    ...{ output_tokens: 1000, total_tokens: 1150 },
  };
  const feeOf = (toolUsage: JsonObject) => decodeOpenai(usage, 'default', toolUsage)?.feeNanoUsd;

  test.each<[string, JsonObject, number | undefined]>([
    ['searches', { web_search: { num_requests: 3 } }, 30_000_000],
    ['pictures', { image_gen: imageGen }, 50 * 5000 + 100 * 8000 + 1000 * 30_000],
    [
      'pictures, partly read from a cache',
      { image_gen: { ...imageGen, cached_tokens_details: { cached_text_tokens: 40, cached_image_tokens: 10 } } },
      10 * 5000 + 40 * 1250 + 90 * 8000 + 10 * 2000 + 1000 * 30_000,
    ],
    ['pictures without details', { image_gen: { input_tokens: 150, output_tokens: 1000 } }, 150 * 8000 + 1000 * 30_000],
    ['both', { image_gen: imageGen, web_search: { num_requests: 1 } }, 31_050_000 + 10_000_000],
    [
      'none',
      { image_gen: { input_tokens: 0, output_tokens: 0, total_tokens: 0 }, web_search: { num_requests: 0 } },
      undefined,
    ],
    ['lies', { image_gen: { input_tokens: -5, output_tokens: 1e300 }, web_search: { num_requests: -1 } }, undefined],
    ['more searches than any answer makes', { web_search: { num_requests: 1e15 } }, 100_000 * 10_000_000],
  ])('%s', (_name, toolUsage, feeNanoUsd) => {
    expect(feeOf(toolUsage)).toBe(feeNanoUsd as number);
  });

  test('are paid where the answer tells no usage of its own', () => {
    expect(decodeOpenai(null, null, { web_search: { num_requests: 2 } })).toMatchObject({
      ...{ untold: 'both', feeNanoUsd: 20_000_000 },
    });
  });

  test('are read whole, streamed and passed through', () => {
    const response = {
      ...{ id: 'r', object: 'response', status: 'completed', model: 'm', output: [], usage },
      tool_usage: { web_search: { num_requests: 3 } },
    };
    const whole = decodeResponse('openai', Buffer.from(JSON.stringify(response)));
    const stream = openai.createStreamDecoder({ ...ANY_REQUEST, wire: { format: 'openai-responses', body: {} } });
    const streamed = stream.push(Buffer.from(sse([{ type: 'response.completed', response }])));
    const shape = openai.passthrough?.shapes.find(({ path }) => path.test('/v1/responses'));
    const readers = [response, { type: 'response.completed', response }].map((value) => {
      const reader = shape?.createReader();
      reader?.take(value);
      return reader?.usage;
    });
    const told = [...whole.events, ...streamed.events].flatMap((event) =>
      event.type === 'usage' ? [event.usage] : [],
    );
    expect([...told, ...readers].map((one) => one?.feeNanoUsd)).toEqual(Array(4).fill(30_000_000));
  });
});

test.each<[string, JsonObject, readonly number[]]>([
  ['no lifetime', { cache_write_tokens: 30 }, [70, 30, 0]],
  [
    'both lifetimes',
    { cache_write_tokens: 30, cache_write_tokens_details: { ttl_30m_tokens: 10, ttl_12h_tokens: 20 } },
    [70, 10, 20],
  ],
  ['lifetimes alone', { cache_write_tokens_details: { ttl_30m_tokens: 10, ttl_12h_tokens: 20 } }, [70, 10, 20]],
  ['more than all of it', { cache_write_tokens_details: { ttl_12h_tokens: 900 } }, [0, 0, 100]],
])('lifetime of cache entries: %s', (_name, details, expected) => {
  for (const usage of [
    { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: details },
    { input_tokens: 100, output_tokens: 5, input_tokens_details: details },
  ] as JsonObject[]) {
    const decoded = decodeOpenai(usage);
    expect([decoded?.inputTokens, decoded?.cacheWriteTokens, decoded?.cacheWrite1hTokens]).toEqual([...expected]);
  }
});

test.each([
  ['default', undefined],
  ['auto', undefined],
  ['flex', 'flex'],
  ['scale', 'scale'],
  ['priority', 'priority'],
  ['Priority', 'priority'],
  ['fast', 'priority'],
  ['ultrafast', 'ultrafast'],
])('the tier %s is billed as %s', (given, billed) => {
  expect(decodeOpenai({ prompt_tokens: 1, completion_tokens: 1 }, given)?.serviceTier).toBe(billed as string);
});

describe('how and where a message was made', () => {
  const priced = {
    prices: { input: 1_000_000, output: 2_000_000, cache_read: 100_000, input_fast: 2_000_000, output_fast: 4_000_000 },
  };
  const usage = { input_tokens: 100, cache_read_input_tokens: 1000, output_tokens: 10 };
  const costOf = (given: JsonObject, prices = priced) => {
    const decoded = decodeAnthropic({ ...usage, ...given });
    return decoded && computeCost(decoded, prices).costNanoUsd;
  };
  const PLAIN = 100 * 1000 + 1000 * 100 + 10 * 2000;

  test.each<[JsonObject, number]>([
    [{ speed: 'standard', inference_geo: 'global', service_tier: 'standard' }, PLAIN],
    [{ speed: null, inference_geo: 'not_available' }, PLAIN],
    [{ speed: 'fast' }, 2 * PLAIN],
    [{ inference_geo: 'us' }, 1.1 * PLAIN],
    [{ speed: 'fast', inference_geo: 'us' }, 2.2 * PLAIN],
    [{ server_tool_use: { web_fetch_requests: 9, web_search_requests: 1 } }, PLAIN + 10_000_000],
  ])('%j', (given, costNanoUsd) => {
    expect(costOf(given)).toBe(Math.round(costNanoUsd));
  });

  test('fast without a price of its own costs the most that it does anywhere', () => {
    const { input, output, cache_read } = priced.prices;
    expect(costOf({ speed: 'fast' }, { prices: { input, output, cache_read } as typeof priced.prices })).toBe(
      6 * PLAIN,
    );
  });

  test('a stream tells it in its beginning', () => {
    const message = new MessageUsage();
    message.add({ ...usage, speed: 'fast', inference_geo: 'us' }, true);
    expect(message.add({ output_tokens: 10 }, false)).toMatchObject({ serviceTier: 'fast', surchargePercent: 10 });
  });
});
