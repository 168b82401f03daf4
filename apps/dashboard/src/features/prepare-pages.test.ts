import { describe, expect, test } from 'bun:test';
import type { Log } from '../api/logs';
import type { Model } from '../api/models';
import type { Chain } from '../api/routing';
import type { CacheBucket, ErrorBucket, LatencyBucket, SpendBucket } from '../api/stats';
import { prepareOutcomes, prepareRatio, requestsOfAnswer, requestsOfModel } from './cache/prepare-cache';
import { prepareLatency } from './latency/prepare-latency';
import { describeEnd, describeImport, describeLost, findModels, readPriceMap, toImport } from './models/prepare-prices';
import {
  cacheOutcome,
  cacheShown,
  foldedNote,
  prepareCostParts,
  prepareMeasures,
  providerOf,
} from './requests/prepare-request';
import { prepareTargets, toChain } from './routing/prepare-routing';
import { describeAlert, statesOf } from './settings/prepare-alert';
import {
  countLeftOut,
  describeCounted,
  filterOf,
  isByDays,
  prepareSpendLines,
  readGroup,
  toCustomerRange,
} from './spend/prepare-spend';

const start = (minute: number) => new Date(minute * 60_000).toISOString();
const times = [0, 60_000];

describe('spend', () => {
  const bucket = (group: string, cost: number, requests = 1, tokens = 0): SpendBucket => ({
    ...{ start: start(0), group, requests, cost_usd: cost, saved_usd: 0, tokens_in: tokens, tokens_out: 0 },
    ...{ tokens_cache_read: 0, tokens_cache_write: 0, tokens_reasoning: 0 },
  });
  test('the dearest first, each beside the period before', () => {
    const [first, second] = prepareSpendLines([bucket('a', 1, 2, 1_000_000), bucket('b', 3)], {
      before: [bucket('b', 2), bucket('c', 9)],
      first: [bucket('b', 2)],
    });
    expect(first).toMatchObject({ name: 'b', share: 0.75, change: 0.5, usdPerMillionTokens: null });
    expect(second).toMatchObject({ name: 'a', usdPerRequest: 0.5, usdPerMillionTokens: 1, change: null });
    expect(prepareSpendLines([bucket('a', 0)])[0]?.share).toBeNull();
  });
  test('a group that began within the period before has no change', () => {
    const changeWith = (first: SpendBucket[]) =>
      prepareSpendLines([bucket('b', 3)], { before: [bucket('b', 2)], first });
    expect(changeWith([])[0]?.change).toBeNull();
    expect(changeWith([bucket('b', 0, 0)])[0]?.change).toBeNull();
    expect(changeWith([bucket('b', 1)])[0]?.change).toBe(0.5);
  });

  test('refusals dilute no price of a request, and mistyped models have no line', () => {
    const outcome = (group: string, success: number, caller_errors: number) =>
      ({ group, success, caller_errors, failures: 0, aborted: 0, requests: success + caller_errors }) as ErrorBucket;
    const now = [bucket('a', 10, 20), bucket('gpt-4oo', 0, 3)];
    const outcomes = [outcome('a', 5, 15), outcome('gpt-4oo', 0, 3)];
    expect(prepareSpendLines(now, { outcomes })).toMatchObject([{ name: 'a', requests: 20, usdPerRequest: 2 }]);
    expect([countLeftOut(now, outcomes), countLeftOut(now, [])]).toEqual([3, 0]);
    expect(describeCounted('model', 3)).toEndWith(' 3 requests are left out, of names that no model answered.');
    expect(describeCounted('provider', 1)).toEndWith(' refused it before it chose a provider.');
    expect(describeCounted('modality', 0)).toStartWith('Requests and $ / request include ');
    expect(describeCounted('team', 0)).toBe('Requests include cache hits and refused requests.');
    // A customer whose requests were all refused stays; refusals cost nothing.
    const kept = prepareSpendLines(now, { outcomes, keepsAll: true });
    expect(kept.map(({ name, usdPerRequest }) => [name, usdPerRequest])).toEqual([
      ['a', 2],
      ['gpt-4oo', null],
    ]);
  });

  test('a model that is still served ends, another has ended', () => {
    const nowMs = Date.UTC(2026, 10, 21, 12);
    expect([describeEnd('2026-11-30', nowMs), describeEnd('2026-06-09', nowMs)]).toEqual([
      'ends 2026-11-30',
      'ended 2026-06-09',
    ]);
  });

  test('customers: beyond a day by days, beyond six hours by hours, else as it is; whole days where rows may be gone', () => {
    const range = {
      fromMs: Date.UTC(2026, 5, 1, 17, 3),
      toMs: Date.UTC(2026, 5, 8, 17, 3),
      intervalMs: 1000,
      label: '',
    };
    const laterMs = range.toMs + 61 * 86_400_000;
    expect(toCustomerRange(range, range.toMs)).toEqual({ ...range, intervalMs: 86_400_000 });
    expect(toCustomerRange(range, laterMs)).toEqual({
      ...{ ...range, fromMs: Date.UTC(2026, 5, 1) },
      intervalMs: 86_400_000,
    });
    expect(toCustomerRange({ ...range, intervalMs: 7 * 86_400_000 }, laterMs).intervalMs).toBe(7 * 86_400_000);
    const day = { ...range, fromMs: range.toMs - 86_400_000 };
    expect(toCustomerRange(day, laterMs)).toEqual({ ...day, intervalMs: 3_600_000 });
    const hours = { ...range, fromMs: range.toMs - 6 * 3_600_000 };
    expect(toCustomerRange(hours, laterMs)).toBe(hours);
    expect([range, day, hours].map((one) => isByDays(one, laterMs))).toEqual([true, false, false]);
    expect(isByDays(range, range.toMs)).toBe(false);
  });

  test('groups of the address, and the requests they stand for', () => {
    expect(['key', 'label.team', 'label.', 'evil', undefined].map(readGroup)).toEqual([
      'key',
      'label.team',
      'model',
      'model',
      'model',
    ]);
    expect(filterOf('key', 'x')).toEqual({ api_key_id: 'x' });
    expect(filterOf('label.team', 'a=b')).toEqual({ label: 'team=a=b' });
    expect(filterOf('modality', 'image')).toEqual({ modality: 'image' });
    expect(filterOf('modality', 'tool')).toEqual({});
    expect(filterOf('model', '(other)')).toEqual({});
  });
});

test('a model of the cache page leads to the requests that its row counts', () => {
  const outcome_not = ['caller_error', 'rate_limited', 'cap_exceeded'];
  expect(requestsOfModel('gpt-4o')).toEqual({ answering_model: 'gpt-4o', outcome_not });
  // The chart counts what reached the cache too, in all and by answer.
  expect([null, 'miss'].map(requestsOfAnswer)).toEqual([{ outcome_not }, { cache: 'miss', outcome_not }]);
  expect([requestsOfModel('(other)'), requestsOfModel(null)]).toEqual([undefined, undefined]);
});

describe('latency', () => {
  const measured = { p50: 1, p95: 2, p99: 3 };
  const none = { p50: null, p95: null, p99: null };
  test('gaps where nothing was measured', () => {
    const buckets = [
      {
        start: start(1),
        group: null,
        requests: 1,
        latency_ms: measured,
        ttft_ms: none,
        overhead_ms: none,
        upstream_ms: none,
      },
    ] as LatencyBucket[];
    expect(prepareLatency(times, buckets, 'latency').series.map(({ values }) => values)).toEqual([
      [null, 1],
      [null, 2],
      [null, 3],
    ]);
    expect(prepareLatency(times, buckets, 'ttft').series[0]?.values).toEqual([null, null]);
  });
});

describe('cache', () => {
  const buckets = [
    {
      start: start(0),
      group: null,
      requests: 4,
      cache_hits: 1,
      semantic_hits: 1,
      misses: 2,
      hit_ratio: 0.5,
      saved_usd: 0,
    },
  ] as CacheBucket[];
  test('no requests are zero answers, and no rate', () => {
    expect(prepareOutcomes(times, buckets).series.map(({ values }) => values)).toEqual([
      [1, 0],
      [1, 0],
      [2, 0],
    ]);
    expect(prepareRatio(times, buckets).series[0]?.values).toEqual([0.5, null]);
  });
});

describe('a request', () => {
  test('cost by part, largest first; how the cache took it', () => {
    expect(prepareCostParts({ input: 0.1, output: 0.4, price_source: 'seed', cache_read: 0 })).toEqual([
      { name: 'output', usd: 0.4 },
      { name: 'input', usd: 0.1 },
    ]);
    expect(cacheOutcome({ cache_hit: true, semantic_cache_hit: true })).toBe('semantic');
    expect([null, 1, 289].map((count) => foldedNote({ refused_count: count }))).toEqual([null, null, '× 289']);
  });
});

test('a refused request shows no provider, no cache, and one time of the gateway', () => {
  const called = {
    ...{ latency_ms: 2, overhead_ms: 1.03, ttft_ms: null, upstream_ms: null, attempts: null, labels: null },
    ...{ cache_hit: false, semantic_cache_hit: false, stream: false, dialect: 'openai-chat', cost_detail: null },
    ...{ status: 'cap_exceeded', error_code: 'customer_spend_limit', provider: 'openai', final_provider: null },
    ...{ tokens_in: 0, tokens_out: 0, tokens_cache_read: 0, tokens_cache_write: 0, tokens_reasoning: 0 },
    ...{ cost_usd: 0, saved_usd: 0 },
  };
  const refused = called as unknown as Log;
  expect([providerOf(refused), cacheShown(refused)]).toEqual([null, null]);
  expect(prepareMeasures(refused).Time?.find(([name]) => name === 'Gateway overhead')?.[1]).toBe('2.00 ms');
  const attempt = { provider: 'openai', model: 'm', outcome: 'server_error', status: 500, start_ms: 0, latency_ms: 1 };
  const failed = { ...refused, attempts: [attempt] } as unknown as Log;
  expect([providerOf(failed), cacheShown(failed)]).toEqual(['openai', 'miss']);
});

test('the times of a request are those of its waterfall; what differs from the list has its name', () => {
  const timed = {
    ...{ latency_ms: 12.1, overhead_ms: 1.11, ttft_ms: 7.45, upstream_ms: 10.99, labels: null, cost_detail: null },
    ...{ cache_hit: false, semantic_cache_hit: false, stream: true, dialect: 'openai-chat', status: 'success' },
    ...{ tokens_in: 0, tokens_out: 0, tokens_cache_read: 0, tokens_cache_write: 0, tokens_reasoning: 0 },
    ...{ cost_usd: 0, saved_usd: 0 },
    attempts: [{ provider: 'demo', model: 'm', outcome: 'ok', status: 200, start_ms: 1.23, latency_ms: 6.14 }],
  } as unknown as Log;
  const shown = (log: Log) => prepareMeasures(log).Time?.filter(([, value]) => value !== null);
  expect(shown(timed)).toEqual([
    ['Total', '12.1 ms'],
    ['First token', '7.45 ms'],
    ['Upstream', '10.8 ms'],
    ['Gateway overhead', '1.31 ms'],
    ['before the first byte', '1.11 ms'],
  ]);
  expect(shown({ ...timed, overhead_ms: 1.31 })?.at(-1)).toEqual(['Gateway overhead', '1.31 ms']);
});

describe('prices', () => {
  test('a price map is read; what has no place is listed', () => {
    const map = {
      sample_spec: {},
      'gpt-x': {
        litellm_provider: 'openai',
        input_cost_per_token: 2.5e-6,
        output_cost_per_token: 1e-5,
        cache_read_input_token_cost: 1.25e-6,
        max_input_tokens: 128000,
        mode: 'chat',
      },
      'groq/llama': { litellm_provider: 'groq', input_cost_per_token: 1e-7, output_cost_per_token: 2e-7 },
      half: { litellm_provider: 'openai', input_cost_per_token: 1e-7, input_cost_per_pixel: 1e-9 },
      video: { litellm_provider: 'openai', mode: 'video_generation', output_cost_per_second: 0.1 },
      draw: {
        litellm_provider: 'openai',
        mode: 'image_generation',
        output_cost_per_image: 0.04,
        input_cost_per_pixel: 1e-9,
      },
      nothing: { litellm_provider: 'openai', mode: 'rerank' },
    };
    const read = readPriceMap(JSON.stringify(map));
    const { prices, lost } = read;
    expect(lost.map(({ model, why }) => `${model} ${why}`)).toEqual([
      'half has no output_usd_per_million; loses input_cost_per_pixel',
      'video is for video_generation, which the gateway has not',
      'draw loses input_cost_per_pixel',
      'nothing has no price',
    ]);
    expect([describeLost(read), describeLost({ lost: [] })]).toEqual([
      ...["4 entries with prices that the gateway can't hold", null],
    ]);
    expect(prices).toEqual([
      {
        provider: 'openai',
        model: 'gpt-x',
        body: {
          input_usd_per_million: '2.5',
          output_usd_per_million: '10',
          cache_read_usd_per_million: '1.25',
          context_window: 128000,
        },
      },
      { provider: 'groq', model: 'llama', body: { input_usd_per_million: '0.1', output_usd_per_million: '0.2' } },
      { provider: 'openai', model: 'draw', body: { image_usd: '0.04', mode: 'image' } },
    ]);
    expect(() => readPriceMap('[]')).toThrow('not a map');
  });
});

test('an alert in one line', () => {
  expect(describeAlert({ kind: 'error_rate', threshold: 0.05, window_minutes: 15 })).toBe(
    'Error rate reaches 5 % within 15 min',
  );
  expect(describeAlert({ kind: 'budget_share', threshold: 0.8, window_minutes: 15 })).toBe('Budget use reaches 80 %');
});

describe('targets', () => {
  test('models in trouble, the worst first, with the time left', () => {
    const lines = prepareTargets(
      [
        { model: 'well', state: 'closed', until: null },
        { model: 'busy', state: 'cooling_down', until: start(1) },
        { model: 'due', state: 'half_open', until: null },
        { model: 'broken', state: 'open', until: start(1) },
      ],
      1000,
    );
    expect(lines.map(({ model, label }) => `${model}: ${label}`)).toEqual([
      'broken: paused, retries in 59 s',
      'due: paused, retries with the next request',
      'busy: cooling down, 59 s left',
      'well: working again',
    ]);
  });
});

describe('entries moved between pages', () => {
  test('a chain keeps what its form does not show; targets that are new have none of it', () => {
    const chain = {
      targets: [{ provider: 'openai', model: 'gpt-4o', matches: ['gpt-4*'] }],
      local_tier: null,
      hedge_after_ms: 250,
    } as unknown as Chain;
    const typed = [
      { provider: 'openai', model: 'gpt-4o' },
      { provider: 'anthropic', model: 'claude' },
    ];
    expect(toChain(typed, chain)).toMatchObject({
      targets: [
        { provider: 'openai', model: 'gpt-4o', matches: ['gpt-4*'] },
        { provider: 'anthropic', model: 'claude' },
      ],
      hedge_after_ms: 250,
    });
    expect(toChain(typed, null)).toEqual({ targets: typed, local_tier: null, hedge_after_ms: null });
  });

  test('an import is narrowed to a provider, and said in words', () => {
    const price = { input_usd_per_million: '1' };
    const map = { prices: ['a', 'b'].map((provider) => ({ provider, model: 'm', body: price })), lost: [] };
    expect(toImport(map, '')).toHaveLength(2);
    expect(toImport(map, 'b') as unknown).toEqual([{ provider: 'b', model: 'm', ...price }]);
    expect(describeImport(undefined)).toBe('Comparing with the current prices');
    expect(describeImport({ created: 1, updated: 2, unchanged: 1000 })).toBe('1 new, 2 changed, 1,000 unchanged.');
  });

  test('models are found by provider and by any part of their name', () => {
    const models = [
      { provider: 'openai', model: 'GPT-4o' },
      { provider: 'azure', model: 'gpt-4o' },
    ] as Model[];
    const found = (provider: string, q: string) => findModels(models, { provider, q }).map((model) => model.provider);
    expect(found('', 'gpt')).toEqual(['openai', 'azure']);
    expect(found('azure', 'gpt')).toEqual(['azure']);
    expect(found('', 'openai/')).toEqual(['openai']);
  });

  test('whether an alert fires and whether anybody is told are said both', () => {
    const alert = {
      ...{ last_error: null, is_firing: false, is_active: true, muted_until: '2026-01-01T01:00:00Z' },
      changed_at: '2026-01-01T00:00:00Z',
    };
    const nowMs = Date.parse('2026-01-01T02:00:00Z');
    const halfPast = Date.parse('2026-01-01T00:30:00Z');
    const labels = (change: Partial<Parameters<typeof statesOf>[0]>, atMs = nowMs) =>
      statesOf({ ...alert, ...change }, atMs).map(({ label }) => label);
    expect(statesOf(alert, nowMs)).toEqual([{ label: 'quiet', tone: 'good' }]);
    expect(labels({ changed_at: null })).toEqual(['not checked yet']);
    expect(labels({}, halfPast)).toEqual(['quiet', 'muted']);
    expect(labels({ is_active: false })).toEqual(['off']);
    expect(labels({ is_firing: true })).toEqual(['firing']);
    expect(labels({ last_error: 'x' })).toEqual(['quiet', 'webhook failing']);
    expect(labels({ is_firing: true, last_error: 'x' })).toEqual(['firing', 'webhook failing']);
    expect(labels({ is_firing: true }, halfPast)).toEqual(['firing', 'muted']);
  });
});
