import { describe, expect, test } from 'bun:test';
import type { ListedModel } from '../../api/models';
import type { ErrorBucket, LatencyBucket, SpendBucket } from '../../api/stats';
import { describePoint, isMeasured, prepareModels, toPoint } from './prepare-models';
import { describeSource } from './prepare-prices';

const listed = (provider: string, model: string) => ({ provider, model, input_usd_per_million: 1 }) as ListedModel;
const counted = (group: string | null, requests: number, failed = 0) =>
  ({ group, requests, success: requests - failed, failures: failed }) as ErrorBucket;
const mistyped = (group: string, requests: number) => ({ group, requests, success: 0, failures: 0 }) as ErrorBucket;
const timed = (group: string, p95: number | null) => ({ group, upstream_ms: { p50: null, p95, p99: null } });
const paid = (group: string, cost: number, tokens: number) =>
  ({ group, cost_usd: cost, tokens_in: tokens / 2, tokens_out: tokens / 2 }) as SpendBucket;

const MODELS = [listed('openai', 'gpt-4o'), listed('azure', 'gpt-4o'), listed('groq', 'org/llama')];
const lines = prepareModels(MODELS, {
  errors: [
    ...[counted('azure/gpt-4o', 30, 3), counted('groq/org/llama', 60), counted('mine/house', 10)],
    ...[
      mistyped('openai/gpt-typo', 500),
      counted('/unsent', 500, 500),
      counted('(other)', 7),
      counted(null, 7),
      counted('openai/gpt-4o', 0),
    ],
  ],
  latency: [timed('azure/gpt-4o', 900), timed('groq/org/llama', null)] as LatencyBucket[],
  spend: [paid('azure/gpt-4o', 0.5, 200_000), paid('groq/org/llama', 0, 0), paid('mine/house', 0, 10)],
});

describe('models', () => {
  test('those in use come first, each at its own provider; mistyped names are no models', () => {
    expect(lines.map(({ target, use }) => [target, use?.requests ?? null])).toEqual([
      ...[
        ['groq/org/llama', 60],
        ['azure/gpt-4o', 30],
        ['mine/house', 10],
      ],
      ['openai/gpt-4o', null],
    ]);
    expect(lines[0]).toMatchObject({ provider: 'groq', model: 'org/llama', listed: MODELS[2] });
    expect(lines[2]).toMatchObject({ provider: 'mine', listed: null });
  });

  test('use has shares, errors, speed and the price as it was paid; gaps are null', () => {
    expect(lines[1]?.use).toEqual({
      ...{ requests: 30, success: 27, failures: 3, share: 0.3, errorRate: 0.1, p95Ms: 900, paidUsd: 2.5 },
    });
    expect(lines[0]?.use).toMatchObject({ share: 0.6, p95Ms: null, paidUsd: null });
    expect(lines[2]?.use).toMatchObject({ p95Ms: null, paidUsd: 0 });
  });

  test('a model whose requests all failed is in use, with or without a price; without requests none is', () => {
    for (const target of ['openai/gpt-4o', 'mine/house']) {
      const failing = { errors: [counted(target, 4, 4)], latency: [], spend: [] };
      expect(prepareModels(MODELS, failing)[0]).toMatchObject({ target, use: { errorRate: 1 } });
    }
    const none = prepareModels(MODELS, { errors: [], latency: [], spend: [] });
    expect(none.map(({ listed: one }) => one)).toEqual(MODELS);
  });

  test('only measured models are drawn', () => {
    const [drawn, ...others] = lines.filter(isMeasured);
    expect(others).toEqual([]);
    expect(drawn && toPoint('gpt-4o', drawn)).toEqual({ name: 'gpt-4o', x: 2.5, y: 900, size: 30 });
    expect(drawn && describePoint('gpt-4o', drawn)).toBe(
      'gpt-4o: $2.50 per 1M tokens, upstream p95 ≈ 900 ms, 30 requests (30.0 %)',
    );
  });
});

test('a price says who set it, and where it was read', () => {
  const source = 'https://example.com/pricing';
  expect(describeSource({ edited: false, source })).toBe(`Shipped with the gateway, as read from ${source}`);
  expect(describeSource({ edited: false, source: 'built in' })).toBe('Shipped with the gateway');
  expect(describeSource({ edited: false, source: null })).toBe('Shipped with the gateway');
  expect(describeSource({ edited: true, source: 'operator' })).toBe('Set by an operator');
});
