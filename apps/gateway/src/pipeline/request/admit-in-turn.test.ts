import { afterEach, describe, expect, test } from 'bun:test';
import { Held, Room } from '@llm0/core/async/room';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import type { AdmitDecision, AdmitRequest } from '@llm0/core/limits/hot-store';
import { OpenParts } from '@llm0/core/limits/open-parts';
import { createTurnClock } from '@llm0/core/limits/turn-clock.fixture';
import { TurnQueue } from '@llm0/core/limits/turn-queue';
import { placeLane, Slots } from '@llm0/core/routing/places/slots';
import { takeSlots } from '@llm0/providers/transport/key-ring';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { Metrics } from '../../observe/metrics';
import type { Services } from '../../services/contract';
import { Meter } from '../metering/meter';
import { admit, chatRequest, openPipeline, type Pipeline, SECRET } from '../open-pipeline.fixture';
import type { AdmitInput, Planned, Planner } from './admit';
import { admitInTurn } from './admit-in-turn';

interface Given {
  readonly everyMs: number;
  readonly burst: number;
  readonly queueMs: number;
  /** Concurrent requests of the provider. */
  readonly places?: number;
}

interface Sent {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly customerId?: string;
}

/** One bucket for the key, and a customer `ann` who is over her rate for the first 100 ms. */
function createBucket({ everyMs, burst }: Given, monotonicMs: () => number) {
  let level = burst;
  let filledMs = 0;
  return (customerId: string | undefined): object => {
    const nowMs = monotonicMs();
    level = Math.min(burst, level + (nowMs - filledMs) / everyMs);
    filledMs = nowMs;
    if (level < 1 - 1e-9) return { type: 'denied', reason: 'key_rate', retryAfterMs: Math.ceil((1 - level) * everyMs) };
    if (customerId === 'ann' && nowMs < 100) {
      return { type: 'denied', reason: 'customer_rate', retryAfterMs: 100 - nowMs };
    }
    level -= 1;
    return { type: 'admitted', plan: 'requested' };
  };
}

function createWorld(given: Given) {
  const time = createTurnClock();
  const turns = new TurnQueue(time.clock);
  const places = given.places === undefined ? undefined : new Slots({ shareOf: (limit) => limit }, given.places);
  const { monotonicMs } = time.clock;
  const decide = createBucket(given, monotonicMs);
  let asked = 0;
  const hotStore = {
    admit: async ({ customerId }: AdmitRequest) => {
      asked += 1;
      return { nowMs: monotonicMs(), state: { projectSpentNanoUsd: 0 }, ...decide(customerId) } as AdmitDecision;
    },
  };
  const services = {
    ...{ hotStore, clock: { monotonicMs }, turns, openParts: new OpenParts(), metrics: new Metrics() },
    ...{ storeClock: { observe: () => {} }, downgradeModels: { get: () => null } },
    connect: () => ({
      takeSlots: places && (() => takeSlots(places, undefined, () => turns.freed(placeLane('p'), 0))),
    }),
  } as unknown as Services;
  const route = { targets: [{ provider: 'p', model: 'm' }] };
  const planner = { plan: () => ({ admit: { holdNanoUsd: 0, model: 'm' }, route }) } as unknown as Planner<
    { model: string },
    Planned,
    never
  >;
  const helds: Held[] = [];
  const send = ({ signal = new AbortController().signal, timeoutMs, customerId }: Sent = {}) => {
    const held = new Held(new Room());
    helds.push(held);
    const input = {
      ctx: { held, requestId: 'r', startMs: monotonicMs(), customerId, controls: { cache: 'normal', timeoutMs } },
      principal: { key: { id: 'key' }, project: { id: 'project', queueTimeoutMs: given.queueMs } },
      ...{ dialect: 'openai-chat', request: { model: 'm' }, httpRequest: { signal } },
    };
    return admitInTurn(services, input as unknown as AdmitInput<{ model: string }>, planner);
  };
  return { ...time, services, send, helds, asked: () => asked };
}

const failureOf = (work: Promise<unknown>): Promise<GatewayError> =>
  work.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => {
      if (error instanceof GatewayError) return error;
      throw error;
    },
  );

describe('requests over their rate', () => {
  test('pass in order, as soon as the rate allows, and never after their time', async () => {
    const arrival = fc.record({ afterMs: fc.nat({ max: 120 }), leavesMs: fc.option(fc.nat({ max: 400 })) });
    const arrivals = fc.array(arrival, { minLength: 1, maxLength: 25 });
    const world = fc.record({
      everyMs: fc.integer({ min: 10, max: 200 }),
      burst: fc.integer({ min: 1, max: 4 }),
      queueMs: fc.integer({ min: 1, max: 600 }),
    });
    await fc.assert(
      fc.asyncProperty(world, arrivals, async (given, sent) => {
        const { clock, advance, send, asked, services } = createWorld(given);
        const passed: number[] = [];
        const waitsMs: number[] = [];
        for (const [index, { afterMs, leavesMs }] of sent.entries()) {
          await advance(afterMs);
          const caller = new AbortController();
          if (leavesMs !== null) clock.after(leavesMs, () => caller.abort());
          const startMs = clock.monotonicMs();
          const end = () => void waitsMs.push(clock.monotonicMs() - startMs);
          const pass = () => void passed.push(index);
          void send({ signal: caller.signal })
            .then(pass, () => {})
            .then(end);
        }
        await advance(given.queueMs + 1);
        expect(passed).toEqual(passed.toSorted((a, b) => a - b));
        expect([waitsMs.length, services.turns.size]).toEqual([sent.length, 0]);
        expect(Math.max(...waitsMs)).toBeLessThanOrEqual(given.queueMs);
        // A place in the queue costs two tries, not constant ones; its end costs another.
        expect(asked()).toBeLessThanOrEqual(3 * sent.length);
      }),
      { numRuns: runs(300) },
    );
  });

  test('a refusal beyond the time is told at once, and names its true wait', async () => {
    const { send, asked } = createWorld({ everyMs: 1000, burst: 1, queueMs: 400 });
    await send();
    const { kind, retryAfterMs } = await failureOf(send());
    expect([kind, retryAfterMs, asked()]).toEqual(['rate_limit_exceeded', 1000, 2]);
  });

  test("the caller's own time ends the wait, too", async () => {
    const { send, advance } = createWorld({ everyMs: 100, burst: 1, queueMs: 10_000 });
    await send();
    const [refused, waited] = [failureOf(send({ timeoutMs: 50 })), send()];
    expect((await refused).kind).toBe('rate_limit_exceeded');
    await advance(100);
    expect((await waited).queuedMs).toBe(100);
  });

  test('a customer over its rate makes no other customer of the key wait', async () => {
    const { send, advance, services } = createWorld({ everyMs: 1, burst: 10, queueMs: 1000 });
    const ann = [send({ customerId: 'ann' }), send({ customerId: 'ann' })];
    await advance(10);
    expect((await send({ customerId: 'bob' })).queuedMs).toBeUndefined();
    expect(services.turns.size).toBe(2);
    await advance(90);
    for (const one of ann) expect((await one).queuedMs).toBe(100);
  });
});

describe('requests for a provider at its limit', () => {
  const given = { everyMs: 1, burst: 100, queueMs: 1000, places: 1 };

  test('wait for its place in order, before any decision, and keep it for their call', async () => {
    const { send, helds, advance, asked } = createWorld(given);
    const passed: number[] = [];
    for (const index of [0, 1, 2]) void send().then(() => passed.push(index));
    await advance(10);
    expect([passed, asked(), helds[0]?.place?.provider]).toEqual([[0], 1, 'p']);
    helds[0]?.end();
    await advance(0);
    expect([passed, asked()]).toEqual([[0, 1], 2]);
    helds[1]?.end();
    await advance(0);
    expect(passed).toEqual([0, 1, 2]);
  });

  test('are refused at the end of their time, and the next one has what they did not use', async () => {
    const { send, helds, advance, services } = createWorld(given);
    await send();
    const refused = failureOf(send());
    await advance(1000);
    expect((await refused).kind).toBe('upstream_rate_limited');
    helds[0]?.end();
    await send();
    expect(services.turns.size).toBe(0);
  });

  test('give the place back where the decision refuses them', async () => {
    const { send, helds } = createWorld({ ...given, everyMs: 60_000, burst: 0 });
    expect((await failureOf(send())).kind).toBe('rate_limit_exceeded');
    expect(helds[0]?.place).toBeUndefined();
    expect((await failureOf(send())).kind).toBe('rate_limit_exceeded');
  });
});

describe('with a store', () => {
  let pipeline: Pipeline;
  afterEach(() => pipeline.close());

  const inputOf = (): AdmitInput => ({
    ctx: {
      ...{ requestId: Bun.randomUUIDv7(), startMs: performance.now(), held: new Held(new Room()) },
      controls: { cache: 'normal' },
    },
    principal: { ...structuredClone(pipeline.world.stored), keyHash: hashSecret(SECRET) },
    dialect: 'openai-chat',
    request: chatRequest(crypto.randomUUID()),
    httpRequest: { signal: new AbortController().signal },
  });

  test('a request waits until another of its key ends, and holds nothing meanwhile', async () => {
    pipeline = await openPipeline({ key: { maxConcurrency: 1 }, project: { queueTimeoutMs: 20_000 } });
    const { services, hotStore } = pipeline;
    const first = inputOf();
    const meter = new Meter(services, {
      ...{ ctx: first.ctx, dialect: 'openai-chat', admission: await admit(services, first) },
    });
    const second = admit(services, inputOf());
    while (services.turns.size === 0) await Bun.sleep(1);
    expect(await hotStore.openHolds()).toBe(1);
    meter.abort();
    const { decision, queuedMs } = await second;
    expect([decision.type, services.turns.size]).toEqual(['admitted', 0]);
    expect(queuedMs).toBeLessThan(900);
  });

  test('money is never waited for', async () => {
    pipeline = await openPipeline({ project: { queueTimeoutMs: 20_000, monthlyCapNanoUsd: 1 } });
    const { kind } = await failureOf(admit(pipeline.services, inputOf()));
    expect([kind, pipeline.services.turns.size]).toEqual(['spend_cap_exceeded', 0]);
  });
});
