import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { Held, Room } from '@llm0/core/async/room';
import type { EventBatch } from '@llm0/core/chat/event';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import type { UpstreamSpend } from '@llm0/core/upstream/upstream-response';
import { admit, CHEAP_MODEL, chatRequest, MODEL, openPipeline, type Pipeline, SECRET } from '../open-pipeline.fixture';
import type { AdmitInput } from '../request/admit';
import type { MeteredCompletion } from '../upstream/completion';
import { Meter } from './meter';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline.close());

const RESPONSE = { choices: [{ index: 0, text: 'two', finishReason: 'stop' as const }] };
const USAGE = { ...ZERO_USAGE, inputTokens: 10, outputTokens: 5 };
/** 10 × 1000 + 5 × 2000. */
const COST_NANO_USD = 20_000;
/** What was sent, by the gateway's own count. */
const INPUT_NANO_USD = 9000;
const text = (value: string): EventBatch => ({ events: [{ type: 'text', choice: 0, text: value }] });

async function begin(given: Partial<Omit<AdmitInput['ctx'], 'held'>> = {}) {
  const ctx = {
    requestId: Bun.randomUUIDv7(),
    startMs: performance.now(),
    controls: { cache: 'normal' as const, dropParams: false },
    held: new Held(new Room()),
    ...given,
  };
  const principal = { ...structuredClone(pipeline.world.stored), keyHash: hashSecret(SECRET) };
  const admission = await admit(pipeline.services, {
    ...{ ctx, principal, dialect: 'openai-chat', request: chatRequest() },
  });
  return { admission, meter: new Meter(pipeline.services, { ctx, dialect: 'openai-chat', admission }) };
}

const completion = (given: Partial<MeteredCompletion> = {}): MeteredCompletion => ({
  target: { provider: 'openai', model: MODEL },
  cache: 'miss',
  attempts: [],
  failoverCount: 0,
  dropped: [],
  wastedNanoUsd: 0,
  firstWaitMs: 0,
  savedNanoUsd: 0,
  pays: () => true,
  received: () => [],
  ...given,
});

const failed = { provider: 'openai', outcome: 'timeout', latencyMs: 5, startMs: 1 };
const SPEND: UpstreamSpend = {
  attempts: [
    { ...failed, model: MODEL, costNanoUsd: 70 },
    { ...failed, model: MODEL },
    { ...failed, model: CHEAP_MODEL },
  ],
  costNanoUsd: 70,
  usage: { ...ZERO_USAGE, inputTokens: 7, estimated: true },
  isBilled: true,
};

const spentNanoUsd = async () => (await pipeline.hotStore.counters())[0]?.spentNanoUsd ?? 0;

describe('a request is settled exactly once', () => {
  const endings: [string, (meter: Meter) => void, string, number][] = [
    ['complete', (meter) => void meter.complete(RESPONSE, USAGE), 'success', COST_NANO_USD],
    ['failed', (meter) => meter.fail(new GatewayError('upstream_error', 'no')), 'error', INPUT_NANO_USD],
    ['aborted', (meter) => meter.abort(), 'aborted', INPUT_NANO_USD],
  ];

  test.each(endings)(
    '%s: before the call returns, and whatever comes after',
    async (_name, end, status, costNanoUsd) => {
      const { meter } = await begin();
      meter.attach(completion());
      expect([await pipeline.hotStore.openHolds(), pipeline.services.leases.size]).toEqual([1, 1]);
      let settled = 0;
      const settle = pipeline.hotStore.settle.bind(pipeline.hotStore);
      pipeline.hotStore.settle = (settlement) => {
        settled += 1;
        return settle(settlement);
      };
      end(meter);
      expect(settled).toBe(1);
      for (const [, again] of endings) again(meter);
      expect(settled).toBe(1);
      await meter.handedOver;
      expect((await pipeline.rows()).map((row) => [row.status as string, row.costNanoUsd])).toEqual([
        [status, costNanoUsd],
      ]);
      expect([await spentNanoUsd(), await pipeline.hotStore.openHolds()]).toEqual([costNanoUsd, 0]);
      expect(pipeline.services.leases.size).toBe(0);
    },
  );
});

describe('a complete answer', () => {
  test('is told and booked with the same cost, and kept in both tiers', async () => {
    const { admission, meter } = await begin();
    meter.attach(completion());
    const summary = meter.complete(RESPONSE, USAGE);
    expect(summary).toMatchObject({ costNanoUsd: COST_NANO_USD, cache: 'miss', usage: USAGE, model: MODEL });
    const [row] = await pipeline.rows();
    expect(row).toMatchObject({ costNanoUsd: COST_NANO_USD, tokensIn: 10, tokensOut: 5, httpStatus: 200 });
    const [kept] = await pipeline.hotStore.cacheRead('project', [admission.plan.cacheKey ?? '']);
    expect(JSON.parse(kept ?? '{}')).toMatchObject({ v: 1, response: RESPONSE, costNanoUsd: COST_NANO_USD });
    expect(pipeline.world.warm).toMatchObject([{ cacheKey: admission.plan.cacheKey, promptTokens: 10, ttlMs: 60_000 }]);
  });

  test('of a fallback is cached for at most a minute', async () => {
    const { meter } = await begin({ controls: { cache: 'normal', cacheTtlSeconds: 600, dropParams: false } });
    meter.attach(completion({ target: { provider: 'openai', model: CHEAP_MODEL } }));
    meter.complete(RESPONSE, USAGE);
    expect(pipeline.world.warm).toMatchObject([{ model: CHEAP_MODEL, ttlMs: 60_000 }]);
  });

  test('a filtered answer is not cached', async () => {
    const { admission, meter } = await begin();
    meter.attach(completion());
    meter.complete({ choices: [{ index: 0, text: '', finishReason: 'content_filter' }] }, USAGE);
    expect(await pipeline.hotStore.cacheRead('project', [admission.plan.cacheKey ?? ''])).toEqual([undefined]);
    expect(pipeline.world.warm).toEqual([]);
  });

  test('without usage is guessed, and marked so', async () => {
    const { meter } = await begin();
    meter.attach(completion({ received: () => [text('two')] }));
    expect(meter.complete(RESPONSE, undefined).usage).toMatchObject({ estimated: true });
    expect((await pipeline.rows())[0]).toMatchObject({ costEstimated: true });
  });

  test('paid by another request costs nothing and reports the saving', async () => {
    const { meter } = await begin();
    meter.attach(completion({ cache: 'exact', pays: () => false }));
    expect(meter.complete(RESPONSE, USAGE).costNanoUsd).toBe(0);
    expect((await pipeline.rows())[0]).toMatchObject({ costNanoUsd: 0, savedNanoUsd: COST_NANO_USD, cacheHit: true });
    expect([await spentNanoUsd(), pipeline.world.warm]).toEqual([0, []]);
  });

  test('pays for the attempts that were no use', async () => {
    const { meter } = await begin();
    meter.attach(completion({ wastedNanoUsd: 300, failoverCount: 1 }));
    meter.complete(RESPONSE, USAGE);
    expect((await pipeline.rows())[0]).toMatchObject({
      ...{ costNanoUsd: COST_NANO_USD + 300, failoverCount: 1 },
      costDetail: { other_attempts: 300 },
    });
  });
});

describe('an answer that is cut short', () => {
  test('books what came, never less than was seen', async () => {
    const { meter } = await begin();
    const received = [text('one'), text(' two'), text(' three')];
    meter.attach(completion({ received: () => received }));
    meter.abort();
    const [row] = await pipeline.rows();
    expect(row).toMatchObject({ status: 'aborted', httpStatus: 499, errorCode: 'client_closed', costEstimated: true });
    expect(row?.tokensOut).toBeGreaterThanOrEqual(3);
    expect(await spentNanoUsd()).toBe(row?.costNanoUsd ?? -1);
    expect(pipeline.world.warm).toEqual([]);
  });

  test('by the caller is an abort however it is told', async () => {
    const { meter } = await begin();
    meter.fail(new GatewayError('client_closed', 'gone'));
    expect((await pipeline.rows())[0]).toMatchObject({ status: 'aborted', httpStatus: 499 });
  });

  test('before anybody answered books what its attempts cost, and counts the switches', async () => {
    const { meter } = await begin();
    meter.watch({ spent: () => SPEND });
    meter.fail(new GatewayError('upstream_timeout', 'late'));
    const [row] = await pipeline.rows();
    expect(row).toMatchObject({ costNanoUsd: 70, costDetail: { other_attempts: 70 }, failoverCount: 1 });
    expect(row).toMatchObject({ costEstimated: true, tokensIn: 7 });
    expect(row?.attempts?.map(({ outcome }) => outcome)).toEqual(['timeout', 'timeout', 'timeout']);
  });

  test('paid by another request lists the attempts and books none', async () => {
    const { meter } = await begin();
    meter.watch({ spent: () => undefined });
    const attempts = [{ provider: 'openai', model: MODEL, failure: 'timeout', latencyMs: 5, startMs: 1 }];
    meter.fail(new GatewayError('upstream_timeout', 'late', { attempts }));
    expect((await pipeline.rows())[0]).toMatchObject({ costNanoUsd: 0, costEstimated: false });
  });

  test.each<[string, boolean]>([
    ['what may be billed books the hold', true],
    ['what the vendor refused books what is known', false],
  ])('under an absolute cap %s', async (_name, isBilled) => {
    await pipeline.close();
    pipeline = await openPipeline({ project: { strictCaps: true } });
    const endings: ((meter: Meter) => void)[] = [
      (meter) => meter.abort(),
      (meter) => meter.fail(new GatewayError('upstream_timeout', 'late')),
    ];
    for (const end of endings) {
      const { meter, admission } = await begin();
      meter.watch({ spent: () => ({ ...SPEND, isBilled }) });
      end(meter);
      const row = (await pipeline.rows()).at(-1);
      expect(row?.costNanoUsd).toBe(isBilled ? admission.plan.admit.holdNanoUsd : SPEND.costNanoUsd);
    }
  });

  test('under an absolute cap an answer without usage, or without an end, books the hold', async () => {
    await pipeline.close();
    pipeline = await openPipeline({ project: { strictCaps: true } });
    const endings: ((meter: Meter) => void)[] = [
      (meter) => void meter.complete(RESPONSE, undefined),
      (meter) => meter.abort(),
      (meter) => meter.fail(new GatewayError('upstream_error', 'broke')),
    ];
    for (const end of endings) {
      const { meter, admission } = await begin();
      meter.attach(completion({ received: () => [text('one')] }));
      end(meter);
      const row = (await pipeline.rows()).at(-1);
      expect(row).toMatchObject({ costNanoUsd: admission.plan.admit.holdNanoUsd, costEstimated: true });
      expect(row?.costDetail).toMatchObject({ price_source: 'hold' });
    }
  });
});

test('the time of an upstream is no overhead', async () => {
  const { meter } = await begin({ startMs: performance.now() - 200 });
  meter.attach(completion({ firstWaitMs: 190 }));
  const overheadMs = meter.markFirstOutput();
  expect(overheadMs).toBeGreaterThanOrEqual(10);
  expect(overheadMs).toBeLessThan(100);
  expect(meter.markFirstOutput()).toBe(overheadMs);
});

test('pauses before other attempts are neither the time of an upstream nor overhead', async () => {
  const { meter } = await begin({ startMs: performance.now() - 200 });
  meter.attach(completion({ firstWaitMs: 190, pausedMs: 150 }));
  meter.markFirstOutput();
  meter.complete(RESPONSE, USAGE);
  const [row] = await pipeline.rows();
  const { latencyMs = 0, overheadMs = 0, upstreamMs = 0 } = row ?? {};
  expect(latencyMs - overheadMs - upstreamMs).toBeCloseTo(150, 6);
});
