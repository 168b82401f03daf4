import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { Held, Room } from '@llm0/core/async/room';
import type { CachedAnswer } from '@llm0/core/cache/cached-answer';
import type { ChatRequest } from '@llm0/core/chat/request';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { hashSecret } from '@llm0/core/keys/api-key';
import {
  admit,
  chatRequest,
  fails,
  MODEL,
  openPipeline,
  type Pipeline,
  SECRET,
  says,
  streams,
} from '../open-pipeline.fixture';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import type { Completion } from '../upstream/completion';
import { produceAnswer } from './produce-answer';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline.close());

const STORED: CachedAnswer = {
  ...{ v: 1, provider: 'openai', model: MODEL, usage: ZERO_USAGE, costNanoUsd: 7 },
  response: { choices: [{ index: 0, text: 'kept', finishReason: 'stop' }] },
};

async function ask(
  given: Partial<ChatRequest> = {},
  text?: string,
): Promise<{ ctx: RequestContext; admission: Admission }> {
  const ctx: RequestContext = {
    requestId: Bun.randomUUIDv7(),
    startMs: performance.now(),
    controls: { cache: 'normal', dropParams: false },
    held: new Held(new Room()),
  };
  const principal = { ...structuredClone(pipeline.world.stored), keyHash: hashSecret(SECRET) };
  const request = chatRequest(text, given);
  return {
    ctx,
    admission: await admit(pipeline.services, { ctx, principal, dialect: 'openai-chat', request }),
  };
}

const produce = ({ ctx, admission }: Awaited<ReturnType<typeof ask>>) =>
  produceAnswer(pipeline.services, ctx, admission);

async function readText(completion: Completion): Promise<string> {
  let text = '';
  for (let batch = await completion.next(); batch !== null; batch = await completion.next()) {
    for (const event of batch.events) if (event.type === 'text') text += event.text;
  }
  return text;
}

describe('a cached answer', () => {
  test('is there at once, replays once, and nobody is asked', async () => {
    const { ctx, admission } = await ask();
    const { ready } = produceAnswer(pipeline.services, ctx, { ...admission, stored: STORED });
    expect([ready?.cache, ready?.savedNanoUsd, ready?.pays()]).toEqual(['exact', 7, false]);
    expect(ready?.whole?.choices).toEqual(STORED.response.choices);
    expect(await readText(ready as Completion)).toBe('kept');
    expect(pipeline.world.asked).toEqual([]);
  });

  test('a replay by Idempotency-Key is not a hit', async () => {
    const { ctx, admission } = await ask();
    const decision = { type: 'replayed', nowMs: 1 } as const;
    expect(produceAnswer(pipeline.services, ctx, { ...admission, decision, stored: STORED }).ready?.cache).toBe('miss');
  });

  test('of the warm tier returns to a hot tier that lost entries', async () => {
    const { ctx, admission } = await ask();
    if (admission.decision.type !== 'admitted') throw new Error('not admitted');
    pipeline.world.warmHit = {
      stored: STORED,
      value: '{}',
      provider: 'openai',
      model: MODEL,
      remainingMs: 5000,
    } as never;
    const decision = { ...admission.decision, hotTierIncomplete: true };
    const completion = await produceAnswer(pipeline.services, ctx, { ...admission, decision }).answer;
    expect([completion.cache, await readText(completion)]).toEqual(['exact', 'kept']);
    expect(await pipeline.hotStore.cacheRead('project', [admission.plan.cacheKey ?? ''])).toEqual(['{}']);
    expect(pipeline.world.asked).toEqual([]);
  });

  test('to another wording comes with how like it is, and is an exact hit from then on', async () => {
    await pipeline.close();
    pipeline = await openPipeline({ project: { semanticCacheEnabled: true } });
    const request = await ask({ temperature: 0 }, 'What is the capital city of France?');
    pipeline.world.similar = { hit: { stored: STORED, value: '{}', similarity: 0.93, remainingMs: 5000 } };
    const completion = await produce(request).answer;
    expect([completion.cache, completion.similarity, await readText(completion)]).toEqual(['semantic', 0.93, 'kept']);
    const [kept] = await pipeline.hotStore.cacheRead('project', [request.admission.plan.cacheKey ?? '']);
    expect(JSON.parse(kept ?? '')).toEqual({ ...STORED, matchedBy: request.ctx.requestId });
  });
});

describe('identical calls at once', () => {
  test('reach the upstream once; the first one pays', async () => {
    pipeline.world.scripts = [says('two')];
    const pending = (await Promise.all([ask(), ask(), ask()])).map((one) => produce(one));
    const completions = await Promise.all(pending.map(({ answer }) => answer));
    expect(await Promise.all(completions.map(readText))).toEqual(['two', 'two', 'two']);
    expect(pipeline.world.asked).toHaveLength(1);
    expect(completions.map((one) => one.pays())).toEqual([true, false, false]);
    expect(completions.map(({ cache, attempts }) => [cache, attempts.length])).toEqual([
      ['miss', 1],
      ['exact', 0],
      ['exact', 0],
    ]);
  });

  test('are one, plain or streamed', async () => {
    const stream = streams();
    pipeline.world.scripts = [stream.script];
    const pending = [produce(await ask({ stream: true })), produce(await ask())];
    stream.send('two');
    stream.finish();
    expect(await Promise.all(pending.map(async ({ answer }) => readText(await answer)))).toEqual(['two', 'two']);
    expect(pipeline.world.asked.map((one) => one.stream)).toEqual([true]);
  });

  test('a stream that breaks off fails its own caller only: a plain one asks again', async () => {
    const stream = streams();
    pipeline.world.scripts = [stream.script, says('whole')];
    const pending = [produce(await ask({ stream: true })), produce(await ask())];
    stream.send('tw');
    const [streamed] = await Promise.all([pending[0]?.answer]);
    stream.breakOff();
    await expect(readText(streamed as Completion)).rejects.toMatchObject({ kind: 'upstream_error' });
    const plain = (await pending[1]?.answer) as Completion;
    expect(await readText(plain)).toBe('whole');
    expect([plain.cache, plain.attempts.length, plain.pays()]).toEqual(['miss', 1, true]);
    expect(pipeline.world.asked.map((one) => one.stream)).toEqual([true, false]);
  });

  const TOOL = { type: 'function', name: 'look' } as const;
  test.each<[Partial<ChatRequest>, boolean, number]>([
    [{ tools: [TOOL] }, false, 2],
    [{ tools: [TOOL] }, true, 1],
    [{ tools: [TOOL], toolChoice: { type: 'none' } }, false, 1],
  ])('with %j, where tool calls may be cached: %p, they are %p', async (given, cacheToolCalls, calls) => {
    await pipeline.close();
    pipeline = await openPipeline({ project: { cacheToolCalls } });
    pipeline.world.scripts = [says('two'), says('two')];
    const pending = [produce(await ask(given)), produce(await ask(given))];
    await Promise.all(pending.map(({ answer }) => answer));
    expect(pipeline.world.asked).toHaveLength(calls);
  });

  test('another question goes by itself', async () => {
    pipeline.world.scripts = [says('one'), says('two')];
    const pending = [produce(await ask()), produce(await ask({}, 'something else'))];
    expect(await Promise.all(pending.map(async ({ answer }) => readText(await answer)))).toEqual(['one', 'two']);
  });
});

describe('a caller who leaves', () => {
  test('leaves the answer, and its cost, to those who stay', async () => {
    const stream = streams();
    pipeline.world.scripts = [stream.script];
    const [leader, follower] = [produce(await ask({ stream: true })), produce(await ask({ stream: true }))];
    stream.send('two');
    const stays = await follower.answer;
    leader.leave();
    stream.finish();
    expect(await readText(stays)).toBe('two');
    expect([(await leader.answer).pays(), stays.pays()]).toEqual([false, true]);
  });

  test('as the last one cancels the upstream', async () => {
    const stream = streams();
    pipeline.world.scripts = [stream.script];
    const pending = produce(await ask({ stream: true }));
    stream.send('two');
    const completion = await pending.answer;
    await completion.next();
    completion.leave();
    await stream.cancelled;
    expect([completion.pays(), pipeline.services.flights.size]).toEqual([true, 0]);
  });
});

test('a failure reaches all who wait, with its attempts', async () => {
  pipeline.world.scripts = [fails(401)];
  const pending = (await Promise.all([ask(), ask()])).map((one) => produce(one));
  const errors = await Promise.all(pending.map(({ answer }) => answer.catch((error: unknown) => error)));
  for (const error of errors)
    expect(error).toMatchObject({ kind: 'upstream_error', attempts: [{ failure: 'auth', model: MODEL }] });
  expect([pipeline.world.asked.length, pipeline.services.flights.size]).toEqual([1, 0]);
});
