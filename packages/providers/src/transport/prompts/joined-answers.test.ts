import { describe, expect, test } from 'bun:test';
import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import { collectEvents } from '@llm0/core/chat/testing/collect-events';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import type { ProviderAnswer, ProviderCall } from '../../provider-call';
import { JoinedAnswers } from './joined-answers';

const usage = (inputTokens: number): ChatEvent => ({ type: 'usage', usage: { ...ZERO_USAGE, inputTokens } });
const says = (text: string, choice = 0): ChatEvent[] => [
  { type: 'start', id: `id of ${text}` },
  { type: 'text', choice, text },
  { type: 'finish', choice, reason: 'stop' },
];

/** Calls by number: each gives its batches one by one, or fails where an error stands. */
function join(scripts: readonly (readonly (ChatEvent[] | Error)[])[], given: { stream?: boolean; n?: number } = {}) {
  const seen = { asked: [] as number[], left: [] as number[], aborted: [] as number[] };
  const jobs = scripts.map((_, i) => ({
    call: { id: i, signal: new AbortController().signal } as unknown as ProviderCall,
    echo: undefined,
  }));
  const ask = async (call: ProviderCall): Promise<ProviderAnswer> => {
    const { id } = call as unknown as { id: number };
    seen.asked.push(id);
    call.signal.addEventListener('abort', () => seen.aborted.push(id));
    const script = [...(scripts[id] ?? [])];
    const next = async (): Promise<IteratorResult<EventBatch, undefined>> => {
      const events = script.shift();
      if (events instanceof Error) throw events;
      return events === undefined ? { done: true, value: undefined } : { done: false, value: { events } };
    };
    const leave = async () => {
      seen.left.push(id);
      return { done: true as const, value: undefined };
    };
    const events = { next, return: leave } as unknown as ProviderAnswer['events'];
    return { events, status: 200, dropped: [] };
  };
  return { seen, answers: new JoinedAnswers(jobs, { ask, stream: false, n: 1, ...given }) };
}

async function readAll(answers: JoinedAnswers): Promise<ChatEvent[][]> {
  const batches: ChatEvent[][] = [];
  for await (const { events } of answers) batches.push([...events]);
  return batches;
}

describe('answers of several calls as one', () => {
  test('choices count on, usage is their sum, the first beginning stands for all', async () => {
    const { answers } = join([[says('a'), [...says('b', 1), usage(3)]], [[...says('c'), ...says('d', 1), usage(4)]]], {
      n: 2,
    });
    await answers.begin();
    const batches = await readAll(answers);
    expect(batches).toHaveLength(1);
    const { id, choices, usage: sum } = collectEvents(batches.flat());
    expect([id, sum?.inputTokens, choices.map(({ index, text }) => [index, text])]).toEqual([
      ...['id of a', 7],
      [
        [0, 'a'],
        [1, 'b'],
        [2, 'c'],
        [3, 'd'],
      ],
    ]);
  });

  test('a stream comes as it is made, its usage at the end', async () => {
    const { answers } = join([[says('a'), [usage(1)]], [[...says('b'), usage(2)]]], { stream: true });
    const batches = await readAll(answers);
    expect([batches.length, batches.at(-1)]).toEqual([4, [usage(3)]]);
  });

  test('usage that not all of them report is not told: it would be too little', async () => {
    const { answers } = join([[[...says('a'), usage(1)]], [says('b')]]);
    expect((await readAll(answers)).flat().some(({ type }) => type === 'usage')).toBe(false);
  });

  test('no more than eight are under way at once', async () => {
    const { answers, seen } = join(Array.from({ length: 20 }, (_, i) => [says(`${i}`)]));
    await answers.begin();
    expect(seen.asked).toHaveLength(8);
    await readAll(answers);
    expect(seen.asked).toHaveLength(20);
  });

  test("one failed prompt still reports the others' usage, without output", async () => {
    const broken = new Error('broken');
    const { answers, seen } = join([[[...says('a'), usage(5)]], [broken], [says('c')]]);
    expect((await answers.next()).value?.events).toEqual([usage(5)]);
    await expect(answers.next()).rejects.toBe(broken);
    expect(seen.aborted).toEqual([0, 1, 2]);
  });

  test('a failed first prompt reports nothing', async () => {
    const broken = new Error('broken');
    const { answers } = join([[broken], [says('b')]]);
    await answers.begin();
    await expect(answers.next()).rejects.toBe(broken);
  });

  test('a caller that leaves cancels all prompts', async () => {
    const { answers, seen } = join([[says('a')], [says('b')]]);
    await answers.begin();
    await answers.return();
    await Bun.sleep(1);
    expect([seen.left.sort(), seen.aborted.sort()]).toEqual([
      [0, 1],
      [0, 1],
    ]);
    expect((await answers.next()).done).toBe(true);
  });
});
