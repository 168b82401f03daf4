import { describe, expect, test } from 'bun:test';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { Slots, type TakenSlots } from '@llm0/core/routing/places/slots';
import { openai } from '../openai/index';
import { ANY_REQUEST } from '../provider.cases';
import { callProvider, type ProviderCall } from './call-provider';
import { createKeyHealth, KeyRing, type RingKey, takeSlots } from './key-ring';
import { upstreamFailure } from './upstream-failure';

const NAMES = ['one', 'two', 'three'];

/** A vendor that answers each key as `statusOf` says, and what it was asked with. */
function vendor(statusOf: Record<string, number | Response>) {
  const asked: string[] = [];
  const fetch = (async (_url: string, init: RequestInit) => {
    const key = new Headers(init.headers).get('authorization')?.slice('Bearer '.length) ?? '';
    asked.push(key);
    const status = statusOf[key] ?? 200;
    if (status instanceof Response) return status.clone();
    const answer = { id: 'x', choices: [{ index: 0, message: { content: 'hi' }, finish_reason: 'stop' }] };
    return Response.json(status === 200 ? answer : { error: { message: `status ${status}` } }, { status });
  }) as unknown as typeof globalThis.fetch;
  return { asked, fetch };
}

function ring(names: readonly string[] = NAMES) {
  let nowMs = 1000;
  const keys: RingKey[] = names.map((apiKey) => ({
    connection: { baseUrl: 'https://h/v1', apiKey },
    health: createKeyHealth(),
  }));
  const advance = (ms: number) => {
    nowMs += ms;
  };
  return { keys: new KeyRing(keys, () => nowMs), advance };
}

const ALONE = { shareOf: (limit: number) => limit };
const NEVER = { baseUrl: 'https://h/v1', apiKey: 'never' };

function limitedRing(limits: Record<string, number>) {
  const slots = Object.values(limits).map((limit) => new Slots(ALONE, limit));
  const ringKeys = Object.keys(limits).map(
    (apiKey, index): RingKey => ({
      connection: { baseUrl: 'https://h/v1', apiKey },
      health: createKeyHealth(),
      slots: slots[index],
    }),
  );
  return { keys: new KeyRing(ringKeys, () => 1000), limits: slots };
}

function taken(slots: ReturnType<typeof takeSlots>): TakenSlots {
  if (slots === 'full') throw new Error('it is full');
  return slots;
}

const call = (parts: Pick<ProviderCall, 'fetch' | 'keys' | 'slots'>, timeoutMs = 1000) =>
  callProvider({
    provider: openai,
    request: { ...ANY_REQUEST, stream: false },
    context: { connection: { baseUrl: 'https://h/v1', apiKey: 'never' }, model: 'm', dropParams: false },
    timeoutMs,
    idleTimeoutMs: 1000,
    maxAnswerBytes: 64 * 1024 * 1024,
    signal: new AbortController().signal,
    ...parts,
  });

async function failure(work: Promise<unknown>): Promise<GatewayError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

const resting = (seconds: string) =>
  Response.json({ error: { message: 'slow down' } }, { status: 429, headers: { 'retry-after': seconds } });

describe('several keys', () => {
  test('the first that works is kept', async () => {
    const { keys } = ring();
    const { asked, fetch } = vendor({});
    for (let i = 0; i < 3; i++) await call({ fetch, keys });
    expect(asked).toEqual(['one', 'one', 'one']);
  });

  test('429: the next one is asked in the same attempt, and the first rests as long as it was told', async () => {
    const { keys, advance } = ring();
    const { asked, fetch } = vendor({ one: resting('5') });
    expect((await call({ fetch, keys })).status).toBe(200);
    expect(asked.splice(0)).toEqual(['one', 'two']);
    advance(4999);
    await call({ fetch, keys });
    expect(asked.splice(0)).toEqual(['two']);
    advance(2);
    await call({ fetch, keys });
    expect(asked).toEqual(['one', 'two']);
  });

  test('all rest: told with the shortest wait, and nobody is asked meanwhile', async () => {
    const { keys, advance } = ring();
    const { asked, fetch } = vendor({ one: resting('50'), two: resting('20'), three: resting('90') });
    expect(await failure(call({ fetch, keys }))).toMatchObject({ failure: 'rate_limited', retryAfterMs: 20_000 });
    expect(asked.splice(0)).toEqual(NAMES);
    advance(5000);
    expect(await failure(call({ fetch, keys }))).toMatchObject({ failure: 'rate_limited', retryAfterMs: 15_000 });
    expect(asked).toEqual([]);
  });

  test('401: not asked again while there is another, but better than nothing when there is none', async () => {
    const { keys } = ring();
    const statusOf: Record<string, number> = { one: 401 };
    const { asked, fetch } = vendor(statusOf);
    await call({ fetch, keys });
    await call({ fetch, keys });
    expect(asked.splice(0)).toEqual(['one', 'two', 'two']);
    Object.assign(statusOf, { two: 401, three: 401 });
    expect(await failure(call({ fetch, keys }))).toMatchObject({ failure: 'auth', upstreamStatus: 401 });
    expect(asked.splice(0)).toEqual(['two', 'three']);
    // The vendor is itself again.
    statusOf.one = 200;
    expect((await call({ fetch, keys })).status).toBe(200);
    await call({ fetch, keys });
    expect(asked).toEqual(['one', 'one']);
  });

  test('403 is worth another key, but marks none', async () => {
    const { keys } = ring();
    const { asked, fetch } = vendor({ one: 403 });
    for (let i = 0; i < 2; i++) await call({ fetch, keys });
    expect(asked).toEqual(['one', 'two', 'one', 'two']);
  });

  test.each([400, 404, 500, 503])('%d is nothing another key would change', async (status) => {
    const { keys } = ring();
    const { asked, fetch } = vendor({ one: status });
    expect((await failure(call({ fetch, keys }))).upstreamStatus).toBe(status);
    expect(asked).toEqual(['one']);
  });

  test('keys share the time of the one attempt', async () => {
    const { keys } = ring();
    const { asked } = vendor({});
    const slow = (async (_url: string, init: RequestInit) => {
      asked.push('x');
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, 60);
        init.signal?.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(new Error('aborted'));
        });
      });
      return resting('9');
    }) as unknown as typeof globalThis.fetch;
    const startMs = performance.now();
    expect(['rate_limited', 'timeout']).toContain((await failure(call({ fetch: slow, keys }, 100))).failure ?? '');
    expect(performance.now() - startMs).toBeLessThan(400);
    expect(asked.length).toBeLessThanOrEqual(2);
  });

  test('a key at its limit is passed over; with none left the provider is full, and asks nobody', async () => {
    const { keys, limits } = limitedRing({ one: 1, two: 1 });
    const provider = new Slots(ALONE, 3);
    const first = taken(takeSlots(provider, keys));
    const { asked, fetch } = vendor({});
    await call({ fetch, keys, slots: first });
    const second = taken(takeSlots(provider, keys));
    await call({ fetch, keys, slots: second });
    expect(asked).toEqual(['one', 'two']);
    expect(takeSlots(provider, keys)).toBe('full');
    first.end();
    expect(limits.map(({ isFull }) => isFull)).toEqual([false, true]);
    taken(takeSlots(provider, keys));
    expect(takeSlots(undefined, keys)).toBe('full');
    second.end();
    const third = new Slots(ALONE, 1);
    taken(takeSlots(third, keys)).end();
    taken(takeSlots(third, undefined));
    expect(takeSlots(third, keys)).toBe('full');
  });

  test('a 429 moves the place to the next key', async () => {
    const { keys, limits } = limitedRing({ one: 1, two: 1 });
    const slots = taken(takeSlots(undefined, keys));
    const { asked, fetch } = vendor({ one: resting('5') });
    await call({ fetch, keys, slots });
    expect([asked, limits.map(({ isFull }) => isFull)]).toEqual([
      ['one', 'two'],
      [false, true],
    ]);
    slots.end();
    expect(limits.some(({ isFull }) => isFull)).toBe(false);
  });

  test('keys that rest are no limit: their provider is asked, and answers for them', () => {
    const { keys } = limitedRing({ one: 1 });
    const slots = taken(takeSlots(undefined, keys));
    keys.refused(keys.next(new Set()) ?? NEVER, upstreamFailure('rate_limited', 'openai', 'said 429.'));
    slots.end();
    taken(takeSlots(undefined, keys));
  });

  test('without any key nobody is asked', async () => {
    const { asked, fetch } = vendor({});
    const error = await failure(call({ fetch, keys: ring([]).keys }));
    expect(error).toMatchObject({ failure: 'auth', message: expect.stringContaining('cannot read its stored keys') });
    expect(asked).toEqual([]);
  });
});

describe('a key that is kept elsewhere', () => {
  /** `texts`: what the secret manager has, one after the other; undefined while it is away. */
  function referenced(...texts: (string | undefined)[]) {
    let now = texts.shift();
    const withText = (apiKey: string | undefined): RingKey => ({
      connection: { baseUrl: 'https://h/v1', apiKey },
      health: createKeyHealth(),
      renew: async () => {
        now = texts.shift();
        return now === undefined || now === apiKey ? undefined : withText(now);
      },
    });
    return withText(now);
  }
  /** Answers later, so that requests with the old secret end after others. */
  const late = (fetch: typeof globalThis.fetch, ms: number) =>
    (async (...given: Parameters<typeof globalThis.fetch>) => {
      await Bun.sleep(ms);
      return fetch(...given);
    }) as unknown as typeof globalThis.fetch;
  const ringOf = (...keys: RingKey[]) => new KeyRing(keys, () => 0);
  const plain = (apiKey: string): RingKey => ({
    connection: { baseUrl: 'https://h/v1', apiKey },
    health: createKeyHealth(),
  });

  test.each([401, 403])('%d: its new secret is asked in the same attempt, and from then on', async (status) => {
    const keys = ringOf(referenced('old', 'new'));
    const { asked, fetch } = vendor({ old: status });
    expect((await call({ fetch, keys })).status).toBe(200);
    expect((await call({ fetch, keys })).status).toBe(200);
    expect(asked).toEqual(['old', 'new', 'new']);
  });

  test('requests at once: all of them go on with the secret that the first one brought', async () => {
    const keys = ringOf(referenced('old', 'new'));
    const statusOf: Record<string, number> = { old: 401 };
    const { asked, fetch } = vendor(statusOf);
    const answers = await Promise.all(
      [1, 5, 30].map((ms) => Bun.sleep(0).then(() => call({ fetch: late(fetch, ms), keys }))),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(asked.filter((key) => key === 'new')).toHaveLength(3);
  });

  test('no other secret yet: the other key, else the refusal', async () => {
    const { asked, fetch } = vendor({ old: 401 });
    expect((await call({ fetch, keys: ringOf(referenced('old', 'old'), plain('other')) })).status).toBe(200);
    expect(asked.splice(0)).toEqual(['old', 'other']);
    const error = await failure(call({ fetch, keys: ringOf(referenced('old', undefined)) }));
    expect(error).toMatchObject({ failure: 'auth', upstreamStatus: 401 });
    expect(asked).toEqual(['old']);
  });

  test('never read: nobody is asked without a key, and it is used as soon as it is known', async () => {
    const { asked, fetch } = vendor({});
    const error = await failure(call({ fetch, keys: ringOf(referenced(undefined, undefined)) }));
    expect(error).toMatchObject({ failure: 'auth', message: expect.stringContaining('secret manager') });
    expect((await call({ fetch, keys: ringOf(referenced(undefined), plain('other')) })).status).toBe(200);
    expect((await call({ fetch, keys: ringOf(referenced(undefined, 'late')) })).status).toBe(200);
    expect(asked).toEqual(['other', 'late']);
  });

  test('a refusal says that the manager could not be asked', async () => {
    const { fetch } = vendor({ old: 401 });
    const away: RingKey = { ...referenced('old', undefined), isAway: () => true };
    const error = await failure(call({ fetch, keys: ringOf(away) }));
    const message = expect.stringMatching(/status 401\.? .*could not ask the secret manager/);
    expect(error).toMatchObject({ kind: 'upstream_error', failure: 'auth', upstreamStatus: 401, message });
  });

  test('a manager that does not answer takes no more than the attempt', async () => {
    const { fetch } = vendor({ old: 401 });
    const stuck: RingKey = { ...referenced('old'), renew: () => new Promise(() => {}) };
    expect(await failure(call({ fetch, keys: ringOf(stuck) }, 100))).toMatchObject({ failure: 'auth' });
  });
});
