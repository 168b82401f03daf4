import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { exactDecimal, readMapPrices } from './price-map';

describe('prices of a map', () => {
  test('take the fields of the admin API, and name what has no place there', () => {
    const entry = {
      ...{ litellm_provider: 'openai', mode: 'chat', max_tokens: 100, supports_vision: true },
      ...{ input_cost_per_token: 2.5e-6, output_cost_per_token: '1e-5', input_cost_per_token_batches: 1.25e-6 },
      ...{ cache_read_input_token_cost_flex: 1e-7, input_cost_per_token_above_272k_tokens: 5e-6 },
      ...{ output_cost_per_image: 0.04, input_cost_per_second: 0.0001, ocr_cost_per_page: 0.001 },
      ...{ input_cost_per_query: 0.002, input_cost_per_character: 1.5e-5, output_cost_per_reasoning_token: 0 },
      ...{ input_cost_per_pixel: 1e-8, output_cost_per_video_per_second: 0.1, input_cost_per_image: 0 },
      search_context_cost_per_query: { search_context_size_low: 0.01 },
      cache_read_input_token_cost: -1,
    };
    expect(readMapPrices(entry)).toEqual({
      fields: {
        ...{ input_usd_per_million: '2.5', output_usd_per_million: '10', input_batch_usd_per_million: '1.25' },
        ...{ cache_read_flex_usd_per_million: '0.1', input_above_272k_usd_per_million: '5' },
        ...{ image_usd: '0.04', second_usd: '0.0001', page_usd: '0.001', search_usd: '0.002' },
        ...{ character_usd_per_million: '15', reasoning_usd_per_million: '0' },
      },
      lost: [
        ...['input_cost_per_pixel', 'output_cost_per_video_per_second', 'search_context_cost_per_query'],
        'cache_read_input_token_cost',
      ],
    });
  });

  test('are exact decimals', () => {
    expect([2.5e-6, 1.5e-7, 0, 0.00006, 3e-12].map((one) => exactDecimal(one, 6, 6))).toEqual([
      ...['2.5', '0.15', '0', '60', '0.000003'],
    ]);
    expect([exactDecimal(-1, 6, 6), exactDecimal(Number.NaN, 6, 6), exactDecimal(1e6, 6, 6)]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    fc.assert(
      fc.property(fc.nat(2_000_000_000), (picoUsd) => {
        expect(Number(exactDecimal(picoUsd / 1e12, 6, 6))).toBeCloseTo(picoUsd / 1e6, 6);
      }),
    );
  });
});
