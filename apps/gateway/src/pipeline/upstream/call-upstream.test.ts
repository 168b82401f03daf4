import { afterEach, describe, expect, test } from 'bun:test';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { checkedTarget } from '@llm0/core/routing/checked-provider';
import { Slots } from '@llm0/core/routing/places/slots';
import type { Route, RouteTarget } from '@llm0/core/routing/resolve-targets';
import { SharedTargetHealth } from '@llm0/core/routing/shared-target-health';
import { noOtherProcess } from '@llm0/core/routing/target-health-store';
import { openai } from '@llm0/providers/openai/index';
import { takeSlots } from '@llm0/providers/transport/key-ring';
import { undisturbedMs } from '@llm0/testing/thread-time';
import { Metrics } from '../../observe/metrics';
import type { ChatJob, ChatNeeds } from './attempt-target';
import { ChatCall } from './call-upstream';

type Script = (signal: AbortSignal) => Promise<Response>;

const priced = (model: string) => ({
  ...{ provider: 'openai', model, mode: 'chat' as const, capabilities: [] },
  prices: { input: 1_000_000, output: 2_000_000 },
});
const targetOf = (model: string): RouteTarget => ({ provider: 'openai', model, weight: 1, priced: priced(model) });
const [a, b, c] = [targetOf('a'), targetOf('b'), targetOf('c')];

const request: ChatRequest = {
  model: 'a',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'A question of some length.' }] }],
  stream: false,
  extra: {},
} as ChatRequest;

const answer =
  (text: string, afterMs = 0): Script =>
  async (signal) => {
    if (afterMs > 0) await wait(afterMs, signal);
    return Response.json({
      ...{ id: 'x', object: 'chat.completion', created: 1, model: 'm' },
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    });
  };
const status =
  (code: number, headers: Record<string, string> = {}): Script =>
  async () =>
    Response.json({ error: { message: `no: ${code}` } }, { status: code, headers });
const hang: Script = (signal) => wait(60_000, signal).then(() => new Response());
const refuse: Script = async () => {
  throw Object.assign(new Error('refused'), { code: 'ConnectionRefused' });
};
/** Headers, half a body, and then nothing. */
const stall: Script = async (signal) => {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"id":'));
      signal.addEventListener('abort', () => controller.error(new Error('aborted')));
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
};

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new Error('aborted'));
    });
  });
}

/** Targets that answer by script: each call takes its model's next one, the last one stays. */
function createWorld(
  scripts: Readonly<Record<string, readonly Script[]>>,
  more: { ownKeys?: true; requestTimeoutMs?: number; answerTimeoutMs?: number; limits?: Record<string, Slots> } = {},
) {
  const asked: string[] = [];
  const aborted: string[] = [];
  const left = new Map(Object.entries(scripts).map(([model, list]) => [model, [...list]]));
  const fetch = (async (_url: string, init: RequestInit) => {
    const { model } = JSON.parse(String(init.body)) as { model: string };
    asked.push(model);
    init.signal?.addEventListener('abort', () => aborted.push(model));
    const list = left.get(model) ?? [];
    const script = (list.length > 1 ? list.shift() : list[0]) ?? hang;
    return script(init.signal as AbortSignal);
  }) as unknown as typeof globalThis.fetch;
  const health = new SharedTargetHealth({
    store: noOtherProcess,
    monotonicMs: () => performance.now(),
  });
  const metrics = new Metrics();
  const services = {
    config: {
      requestTimeoutMs: more.requestTimeoutMs ?? 1000,
      answerTimeoutMs: more.answerTimeoutMs ?? more.requestTimeoutMs ?? 1000,
      ...{ streamIdleTimeoutMs: 5000, isBehindProxy: true },
    },
    clock: { nowMs: Date.now, monotonicMs: () => performance.now() },
    fetch,
    mediaEgress: {},
    connect: ({ model }: RouteTarget) => ({
      provider: openai,
      connection: { baseUrl: 'http://upstream.test/v1', apiKey: 'k' },
      ownKeys: more.ownKeys,
      takeSlots: more.limits?.[model] && (() => takeSlots(more.limits?.[model], undefined)),
    }),
    metrics,
    health,
  } as unknown as ChatNeeds;
  const controller = new AbortController();
  const begin = (targets: Route['targets'], job: Partial<ChatJob> & Partial<Route> = {}) => {
    const call = new ChatCall(services, {
      projectId: 'project',
      request,
      route: { retryTimeouts: true, ...job, targets, requested: targets[0] } as unknown as Route,
      timed: { isPlain: (job.request ?? request).stream !== true },
      dropParams: false,
      maxAttempts: Number.POSITIVE_INFINITY,
      startMs: performance.now(),
      signal: controller.signal,
      abort: controller,
      ...job,
    });
    const { response } = call;
    return { response, spent: (read: Parameters<typeof call.spent>[0]) => call.spent(read), end: () => call.end?.() };
  };
  const call = (...given: Parameters<typeof begin>) => begin(...given).response;
  return { asked, aborted, health, metrics, controller, begin, call, services };
}

const failureOf = (call: Promise<unknown>): Promise<GatewayError> =>
  call.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => {
      if (error instanceof GatewayError) return error;
      throw error;
    },
  );
const outcomes = (attempts: readonly { model: string; outcome: string }[]) =>
  attempts.map(({ model, outcome }) => `${model} ${outcome}`);

describe('one call over several targets', () => {
  test('a plain answer that stalls leaves the next target its time', async () => {
    const { call } = createWorld({ a: [stall], b: [answer('b')] });
    const startMs = performance.now();
    const { attempts, target } = await call([a, b]);
    expect(target).toBe(b);
    expect(outcomes(attempts)).toEqual(['a timeout', 'b ok']);
    expect(performance.now() - startMs).toBeLessThan(1800);
  });

  test('a plain answer may take its whole time, and is not asked for elsewhere once that is over', async () => {
    const patient = createWorld({ a: [answer('a', 300)] }, { requestTimeoutMs: 100, answerTimeoutMs: 5000 });
    expect(outcomes((await patient.call([a])).attempts)).toEqual(['a ok']);
    for (const script of [hang, stall]) {
      const { call, asked } = createWorld({ a: [script], b: [answer('b')] }, { answerTimeoutMs: 150.5 });
      const error = await failureOf(call([a, b], { retryTimeouts: undefined }));
      expect([error.kind, asked]).toEqual(['upstream_timeout', ['a']]);
      expect(error.message).toMatch(/^openai\/a (did not|sent no).* \d+ ms\.$/);
    }
  });

  test('a stream has no longer than before to begin; what the caller allows only lowers that', async () => {
    const stream = { request: { ...request, stream: true } };
    const world = createWorld({ a: [hang], b: [answer('b')] }, { requestTimeoutMs: 150, answerTimeoutMs: 60_000 });
    expect(outcomes((await world.call([a, b], { ...stream, retryTimeouts: undefined })).attempts)).toEqual([
      'a timeout',
      'b ok',
    ]);
    for (const isPlain of [true, false]) {
      const { call } = createWorld({ a: [hang] }, { requestTimeoutMs: 60_000 });
      const startMs = performance.now();
      const error = await failureOf(call([a], { timed: { isPlain, atMostMs: 100 } }));
      expect(error.message).toBe('openai/a did not answer within 100 ms.');
      expect(performance.now() - startMs).toBeLessThan(1000);
    }
    const { call } = createWorld({ a: [hang] }, { requestTimeoutMs: 100 });
    expect((await failureOf(call([a], { timed: { isPlain: true, atMostMs: 60_000 } }))).kind).toBe('upstream_timeout');
  });

  test('a target has its own time-outs, longer or shorter ones', async () => {
    const patient = { ...a, timeouts: { answerMs: 5000, requestMs: 50 } };
    const { call } = createWorld({ a: [answer('a', 300)] }, { requestTimeoutMs: 100 });
    expect(outcomes((await call([patient])).attempts)).toEqual(['a ok']);
    const hurried = { ...a, timeouts: { requestMs: 50 } };
    const world = createWorld({ a: [hang], b: [answer('b')] }, { requestTimeoutMs: 60_000 });
    const { attempts } = await world.call([hurried, b], { request: { ...request, stream: true } });
    expect(outcomes(attempts)).toEqual(['a timeout', 'b ok']);
  });

  test('a failure is told of the target that was requested, and of the one asked last', async () => {
    const { call } = createWorld({ a: [status(500)], b: [status(503)] });
    const { message } = await failureOf(call([a, b]));
    expect(message).toBe(
      'openai/a did not answer, nor did what stands in for it. The last attempt: openai/b answered: no: 503',
    );
  });

  test('a breaker that opened elsewhere: passed over, named in the log, asked last', async () => {
    const { call, health, asked } = createWorld({ a: [status(500)], b: [status(500)] });
    for (let i = 0; i < 5; i++) health.failed(a, 'server_error', { startedMs: performance.now() });
    const error = await failureOf(call([a, b]));
    expect(asked).toEqual(['b', 'b', 'a']);
    expect(error.attempts?.map(({ model, failure }) => `${model} ${failure}`)).toEqual([
      'a breaker_open',
      'b server_error',
      'b server_error',
      'a server_error',
    ]);
  });

  test('an only target is asked although its breaker is open, and a good answer closes it', async () => {
    const { call, health } = createWorld({ a: [answer('a')] });
    for (let i = 0; i < 5; i++) health.failed(a, 'server_error', { startedMs: performance.now() });
    const { attempts, failoverCount } = await call([a]);
    expect([outcomes(attempts), failoverCount]).toEqual([['a ok'], 0]);
    expect(health.isOpen(a)).toBe(false);
  });

  test('all 429: 429 with the time of the one that can be asked first', async () => {
    const { call } = createWorld({
      a: [status(429, { 'retry-after-ms': '2500' })],
      b: [status(429, { 'retry-after': '40' })],
    });
    const error = await failureOf(call([a, b]));
    expect([error.kind, error.retryAfterMs]).toEqual(['upstream_rate_limited', 2500]);
  });

  test('pauses before other attempts are told beside the wait that they are part of', async () => {
    const { call } = createWorld({ a: [status(503, { 'retry-after-ms': '30' }), answer('a')] });
    const { pausedMs = 0, firstWaitMs } = await call([a]);
    expect(pausedMs).toBeGreaterThanOrEqual(30);
    expect(firstWaitMs).toBeGreaterThanOrEqual(pausedMs - 1);
    expect((await createWorld({ a: [answer('a')] }).call([a])).pausedMs).toBe(0);
  });

  test('the wait starts with the first attempt: work before it is the gateway’s own', async () => {
    const { call, services } = createWorld({ a: [answer('a', 20)] });
    const { connect } = services;
    Object.assign(services, {
      connect: (...target: Parameters<typeof connect>) => {
        Bun.sleepSync(30);
        return connect(...target);
      },
    });
    const { attempts, firstWaitMs } = await call([a]);
    expect(Math.abs(firstWaitMs - (attempts[0]?.latencyMs ?? 0))).toBeLessThan(15);
  });

  test("a 401 for a project's own key is no mark against the target for others", async () => {
    const { call, health } = createWorld({ a: [status(401)] }, { ownKeys: true });
    for (let i = 0; i < 6; i++) await failureOf(call([a]));
    expect(health.refuses(a, 'project')).toBe('breaker_open');
    expect(health.refuses(a, 'another')).toBeUndefined();
  });

  test('an answer that breaks after its first output counts against the target', async () => {
    const { call, health } = createWorld({ a: [answer('a')] });
    const broken = new GatewayError('upstream_error', 'broke', { failure: 'truncated' });
    for (let i = 0; i < 5; i++) (await call([a])).onBroken?.(broken);
    expect(health.isOpen(a)).toBe(true);
  });

  test.each<[string, Script]>([
    ['the wait before a second attempt', status(503, { 'retry-after': '2' })],
    ['an attempt', hang],
  ])('a caller who leaves during %s ends it at once', async (_when, script) => {
    const { call, controller, asked } = createWorld({ a: [script] }, { requestTimeoutMs: 10_000 });
    const asking = failureOf(call([a, b]));
    await Bun.sleep(50);
    const startMs = undisturbedMs();
    controller.abort();
    expect((await asking).kind).toBe('client_closed');
    expect(undisturbedMs() - startMs).toBeLessThan(200);
    expect(asked).toEqual(['a']);
  });
});

describe('under a strict cap', () => {
  const strict = { maxAttempts: 1, hedgeAfterMs: 10 };
  test.each<[string, Script, string[]]>([
    ['429 costs nothing: the next one is asked', status(429), ['a', 'b']],
    ['401 costs nothing', status(401), ['a', 'b']],
    ['a refused connection costs nothing', refuse, ['a', 'a', 'b']],
    ['500 costs nothing', status(500), ['a', 'a', 'b']],
    ['a time-out may have cost something: nobody else is asked', hang, ['a']],
    [
      'garbage may have cost something',
      async () => new Response('{', { headers: { 'content-type': 'application/json' } }),
      ['a'],
    ],
  ])('%s', async (_name, script, expected) => {
    const { call, asked } = createWorld({ a: [script], b: [answer('b')] });
    const result = call([a, b], strict);
    if (expected.includes('b')) expect((await result).target).toBe(b);
    else await failureOf(result);
    expect(asked).toEqual(expected);
  });
});

describe('unanswered requests', () => {
  const input = { inputTokens: 11, estimated: true };

  test.each<[string, Script, number]>([
    ['a time-out', hang, 11_000],
    ['a broken connection', async () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNRESET' })), 22_000],
    ['garbage in a 2xx', async () => new Response('{', { headers: { 'content-type': 'application/json' } }), 11_000],
    ['408 of the vendor', status(408), 11_000],
    ['504 of the vendor', status(504), 22_000],
    ['a refused connection', refuse, 0],
    ['429', status(429), 0],
    ['400', status(400), 0],
    ['500', status(500), 0],
  ])('%s is booked as its input, or free: %#', async (_name, script, costNanoUsd) => {
    const { begin } = createWorld({ a: [script] });
    const { response, spent } = begin([a]);
    await failureOf(response);
    expect([spent([]).costNanoUsd, spent([]).isBilled]).toEqual([costNanoUsd, costNanoUsd > 0]);
    if (costNanoUsd === 11_000) expect(spent([]).usage).toMatchObject(input);
  });

  test('an answer after a time-out costs both', async () => {
    const { call } = createWorld({ a: [hang], b: [answer('b')] });
    const result = await call([a, b]);
    expect([result.wastedNanoUsd, result.wasteEstimated]).toEqual([11_000, true]);
  });

  test('by the time the caller leaves: nothing before it is sent, its input after, all that came once it came', async () => {
    const { begin, controller, asked } = createWorld({ a: [hang] });
    const { response, spent } = begin([a]);
    expect(spent([])).toMatchObject({ costNanoUsd: 0, isBilled: false });
    while (asked.length === 0) await Bun.sleep(1);
    controller.abort();
    expect((await failureOf(response)).kind).toBe('client_closed');
    expect(spent([])).toMatchObject({ costNanoUsd: 11_000, isBilled: true, usage: input });
    expect(outcomes(spent([]).attempts)).toEqual(['a aborted']);
    const read = [{ events: [{ type: 'text', choice: 0, text: 'x'.repeat(40) } as const] }];
    const answered = createWorld({ a: [answer('a')] }).begin([a]);
    await answered.response;
    expect(answered.spent([]).costNanoUsd).toBe(3000 + 4000);
    expect(answered.spent(read)).toMatchObject({ costNanoUsd: 11_000 + 20_000, isBilled: true });
    expect(outcomes(answered.spent(read).attempts)).toEqual(['a ok']);
  });

  test('two attempts at once are two bills', async () => {
    const { begin, controller, asked } = createWorld({ a: [hang], b: [hang] });
    const { response, spent } = begin([a, b], { hedgeAfterMs: 20 });
    while (asked.length < 2) await Bun.sleep(1);
    controller.abort();
    await failureOf(response);
    expect(spent([]).costNanoUsd).toBe(22_000);
  });

  test('counting tokens is free, whatever becomes of it', async () => {
    const { begin, controller } = createWorld({ a: [hang] });
    const { response, spent } = begin([a], { request: { ...request, countOnly: true } });
    await response.catch(() => {});
    controller.abort();
    expect(spent([]).costNanoUsd).toBe(0);
  });
});

describe('drained providers', () => {
  const drained = (target: RouteTarget): RouteTarget => ({ ...target, isDrained: true });

  test('are skipped, and every switch counts', async () => {
    const world = createWorld({ b: [status(429)], c: [answer('c')] });
    const first = await world.call([drained(a), c]);
    expect([outcomes(first.attempts), first.failoverCount]).toEqual([['a drained', 'c ok'], 1]);
    const second = await world.call([b, drained(a), c]);
    expect([outcomes(second.attempts), second.failoverCount]).toEqual([['b rate_limited', 'a drained', 'c ok'], 2]);
    expect(world.asked).toEqual(['c', 'b', 'c']);
  });

  test('alone they are a 503 that says so', async () => {
    const world = createWorld({});
    const error = await failureOf(world.call([drained(a), drained(b)]));
    expect([error.kind, error.retryAfterMs, world.asked]).toEqual(['upstream_unavailable', 30_000, []]);
    expect(error.message).toContain('The operator drained the provider "openai"');
    expect(error.attempts?.map(({ model, failure }) => `${model} ${failure}`)).toEqual(['a drained', 'b drained']);
  });

  test("a failure of another target is the error, and says that this one wasn't asked", async () => {
    const error = await failureOf(createWorld({ a: [status(429)] }).call([a, drained(b)]));
    expect([error.kind, error.attempts?.map(({ failure }) => failure)]).toEqual([
      'upstream_rate_limited',
      ['rate_limited', 'drained'],
    ]);
  });
});

describe('checked providers', () => {
  test('come last while their check fails, and are tried all the same', async () => {
    const world = createWorld({ a: [answer('a')], b: [answer('b'), status(401)] });
    const checked: RouteTarget = { ...a, checked: checkedTarget('openai') };
    expect((await world.call([checked, b])).target).toBe(checked);
    const mark = { startedMs: performance.now(), retryAfterMs: 60_000 };
    world.health.failed(checkedTarget('openai'), 'rate_limited', mark);
    expect(outcomes((await world.call([checked, b])).attempts)).toEqual(['a check_failed', 'b ok']);
    expect(outcomes((await world.call([checked, b])).attempts)).toEqual(['a check_failed', 'b auth', 'a ok']);
    await world.health.restore(checkedTarget('openai').provider);
    expect((await world.call([checked, b])).target).toBe(checked);
  });
});

describe('concurrency limits', () => {
  const limit = (of: number) => new Slots({ shareOf: () => of }, of);

  test('a provider at its limit is skipped, counted, and asked again once an answer has ended', async () => {
    const limits = { a: limit(1) };
    const world = createWorld({ a: [answer('a')], b: [answer('b')] }, { limits });
    const first = world.begin([a, b]);
    await first.response;
    const second = await world.call([a, b]);
    expect([outcomes(second.attempts), second.failoverCount]).toEqual([['a concurrency_limit', 'b ok'], 1]);
    expect(await world.metrics.registry.metrics()).toContain('llm0_provider_full_total{provider="openai"} 1');
    first.end();
    first.end();
    expect([(await world.call([a, b])).target, limits.a.isFull]).toEqual([a, true]);
  });

  test('alone it is a 429 that says so', async () => {
    const error = await failureOf(createWorld({}, { limits: { a: limit(0) } }).call([a]));
    expect([error.kind, error.retryAfterMs]).toEqual(['upstream_rate_limited', 1000]);
    expect(error.message).toContain('max_concurrency');
    expect(error.attempts?.map(({ failure }) => failure)).toEqual(['concurrency_limit']);
  });

  test('a failure, a second attempt, a caller who leaves and a lost hedge give their places back', async () => {
    const limits = { a: limit(1), b: limit(1) };
    const areFree = () => !limits.a.isFull && !limits.b.isFull;
    const failing = createWorld({ a: [status(500)], b: [status(429)] }, { limits });
    expect((await failureOf(failing.call([a, b]))).attempts?.map(({ failure }) => failure)).toEqual([
      ...['server_error', 'server_error', 'rate_limited'],
    ]);
    expect(areFree()).toBe(true);
    const left = createWorld({ a: [hang] }, { limits });
    const leaving = failureOf(left.call([a]));
    while (left.asked.length === 0) await Bun.sleep(1);
    left.controller.abort();
    await leaving;
    expect(areFree()).toBe(true);
    const hedged = createWorld({ a: [hang], b: [answer('b')] }, { limits }).begin([a, b], { hedgeAfterMs: 20 });
    await hedged.response;
    expect([limits.a.isFull, limits.b.isFull]).toEqual([false, true]);
    hedged.end();
    expect(areFree()).toBe(true);
  });

  test('an answer that nobody waits for any more keeps no place', async () => {
    const limits = { a: limit(1) };
    const gone = createWorld({ a: [answer('a')] }, { limits }).begin([a]);
    gone.end();
    await gone.response;
    expect(limits.a.isFull).toBe(false);
  });

  test('a target with an open breaker is no last resort without a place', async () => {
    const limits = { a: limit(1) };
    const world = createWorld({ a: [status(401)] }, { limits });
    for (let i = 0; i < 5; i++) await failureOf(world.call([a]));
    expect(world.health.refuses(a)).toBe('breaker_open');
    limits.a.tryTake();
    expect((await failureOf(world.call([a]))).kind).toBe('upstream_rate_limited');
    expect(world.asked).toHaveLength(5);
  });
});

describe('hedging', () => {
  const hedged = { hedgeAfterMs: 50 };
  let world: ReturnType<typeof createWorld>;
  afterEach(() => world.controller.abort());

  test('no second attempt where the first is fast, or fails fast', async () => {
    world = createWorld({ a: [answer('a')] });
    expect(outcomes((await world.call([a, b], hedged)).attempts)).toEqual(['a ok']);
    world = createWorld({ a: [status(429)], b: [answer('b')] });
    expect(outcomes((await world.call([a, b], hedged)).attempts)).toEqual(['a rate_limited', 'b ok']);
  });

  test('the slower one is cancelled at once, and its input booked as an estimate', async () => {
    world = createWorld({ a: [hang], b: [answer('b')] });
    const result = await world.call([a, b], hedged);
    expect(outcomes(result.attempts)).toEqual(['a superseded', 'b ok']);
    expect(world.aborted).toEqual(['a']);
    expect(result.wasteEstimated).toBe(true);
    expect(result.wastedNanoUsd).toBeGreaterThan(0);
    expect(result.attempts[0]?.costNanoUsd).toBe(result.wastedNanoUsd);
    expect(result.failoverCount).toBe(1);
  });

  test('the first one may still win', async () => {
    world = createWorld({ a: [answer('a', 150)], b: [hang] });
    const result = await world.call([a, b], hedged);
    expect(outcomes(result.attempts)).toEqual(['a ok', 'b superseded']);
    expect([world.aborted, result.failoverCount]).toEqual([['b'], 0]);
  });

  test('one of two fails: the other one is waited for; both fail: the rest is asked', async () => {
    world = createWorld({ a: [answer('a', 200)], b: [status(401)] });
    const result = await world.call([a, b], hedged);
    expect(result.target).toBe(a);
    expect(result.wastedNanoUsd).toBe(0);
    world = createWorld({
      a: [async (signal) => wait(100, signal).then(() => status(500)(signal))],
      b: [status(401)],
      c: [answer('c')],
    });
    expect((await world.call([a, b, c], hedged)).target).toBe(c);
  });

  test("the request's own fault ends both", async () => {
    world = createWorld({ a: [hang], b: [status(400)] });
    const error = await failureOf(world.call([a, b], hedged));
    expect([error.kind, error.status]).toEqual(['upstream_rejected', 400]);
    await Bun.sleep(10);
    expect(world.aborted).toEqual(['a']);
  });

  test('a caller who leaves cancels both within a second', async () => {
    world = createWorld({ a: [hang], b: [hang] });
    const asking = failureOf(world.call([a, b], hedged));
    while (world.asked.length < 2) await Bun.sleep(5);
    world.controller.abort();
    expect((await asking).kind).toBe('client_closed');
    expect(world.aborted.sort()).toEqual(['a', 'b']);
  });

  test('a second target at its limit is no failover where the first one answers, and named where it fails', async () => {
    const limits = { b: new Slots({ shareOf: () => 0 }, 1) };
    world = createWorld({ a: [answer('a', 150)] }, { limits });
    const result = await world.call([a, b], hedged);
    expect([outcomes(result.attempts), result.failoverCount]).toEqual([['a ok'], 0]);
    world = createWorld(
      { a: [async (signal) => wait(100, signal).then(() => status(401)(signal))], c: [answer('c')] },
      { limits },
    );
    expect(outcomes((await world.call([a, b, c], hedged)).attempts)).toEqual(['a auth', 'b concurrency_limit', 'c ok']);
  });

  test('an only target is asked a second time', async () => {
    world = createWorld({ a: [hang, answer('a')] });
    const result = await world.call([a], hedged);
    expect(outcomes(result.attempts)).toEqual(['a superseded', 'a ok']);
    expect(result.failoverCount).toBe(0);
  });
});
