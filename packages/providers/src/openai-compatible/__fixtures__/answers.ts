import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatResponse } from '@llm0/core/chat/response';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { type AnswerFixture, sse } from '../../provider.cases';

const HEAD = { id: 'cmpl-7', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'local' };
const BASE: Omit<ChatResponse, 'choices'> = { id: HEAD.id, model: HEAD.model, createdSeconds: HEAD.created };
const USAGE = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
const OUR_USAGE = { ...ZERO_USAGE, inputTokens: 10, outputTokens: 4 };
const STOP = { index: 0, finishReason: 'stop', nativeFinishReason: 'stop' } as const;
const CALLED = { ...STOP, text: null, finishReason: 'tool_calls', nativeFinishReason: 'tool_calls' } as const;

const chunk = (delta: JsonObject, finish?: string | null): JsonObject => ({
  ...HEAD,
  choices: [{ index: 0, delta, ...(finish === undefined ? {} : { finish_reason: finish }) }],
});
const call = (id: string, name: string, text: string): JsonObject => ({
  index: 0,
  id,
  type: 'function',
  function: { name, arguments: text },
});

/** Recorded answers of compatible servers. Each one makes a naive reader lose or invent data. */
export const ANSWERS: readonly AnswerFixture[] = [
  {
    name: 'the role on every chunk, empty runs, usage after the finish, no [DONE]',
    stream: sse([
      chunk({ role: 'assistant', content: '' }, null),
      chunk({ role: 'assistant', content: '' }, null),
      chunk({ role: 'assistant', content: 'Hi' }, null),
      chunk({ role: 'assistant', content: '' }, null),
      chunk({ role: 'assistant', content: '' }, 'stop'),
      { ...HEAD, choices: [], usage: USAGE },
    ]),
    expected: { ...BASE, choices: [{ ...STOP, text: 'Hi' }], usage: OUR_USAGE },
  },
  {
    name: 'usage on the finish chunk, vendor fields, no finish_reason, no index',
    stream: sse(
      [
        { ...HEAD, choices: [{ delta: { role: 'assistant', content: null } }], x_vendor: { id: 'r1' } },
        { ...HEAD, choices: [{ delta: { content: 'Hi' } }] },
        { ...HEAD, choices: [{ delta: {}, finish_reason: 'eos' }], x_vendor: { id: 'r1', seed: 3 }, usage: USAGE },
      ],
      '[DONE]',
    ),
    expected: {
      ...BASE,
      choices: [{ ...STOP, text: 'Hi', nativeFinishReason: 'eos' }],
      usage: OUR_USAGE,
      extra: { x_vendor: { id: 'r1', seed: 3 } },
    },
  },
  {
    name: 'reasoning under its other name',
    stream: sse(
      [
        chunk({ role: 'assistant', reasoning: 'Hm' }),
        chunk({ reasoning: 'm.' }),
        chunk({ content: 'Hi' }),
        chunk({}, 'stop'),
      ],
      '[DONE]',
    ),
    plain: {
      ...HEAD,
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hi', reasoning_content: 'Hmm.' }, finish_reason: 'stop' },
      ],
    },
    expected: { ...BASE, choices: [{ ...STOP, text: 'Hi', reasoning: 'Hmm.' }] },
  },
  {
    name: 'content as parts',
    stream: sse(
      [
        chunk({ role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }),
        chunk({ content: [{ type: 'text', text: 'Hi' }] }),
        chunk({ content: ' you' }, 'stop'),
      ],
      '[DONE]',
    ),
    expected: { ...BASE, choices: [{ ...STOP, text: 'Hi you', reasoning: 'Hm' }] },
  },
  {
    name: 'parallel calls that all say index 0',
    stream: sse(
      [
        chunk({ role: 'assistant', tool_calls: [call('a', 'f', '{"x":1}')] }),
        chunk({ tool_calls: [call('b', 'g', '{}')] }),
        chunk({}, 'tool_calls'),
      ],
      '[DONE]',
    ),
    expected: {
      ...BASE,
      choices: [
        {
          ...CALLED,
          toolCalls: [
            { id: 'a', name: 'f', arguments: '{"x":1}' },
            { id: 'b', name: 'g', arguments: '{}' },
          ],
        },
      ],
    },
  },
  {
    name: 'calls without index or id, arguments as an object, the head repeated',
    stream: sse([
      chunk({ tool_calls: [{ function: { name: 'f', arguments: { x: 1 } } }] }),
      chunk({ tool_calls: [call('z', 'g', '{')] }),
      chunk({ tool_calls: [call('z', 'g', '}')] }),
      chunk({}, 'tool_calls'),
    ]),
    expected: {
      ...BASE,
      choices: [
        {
          ...CALLED,
          toolCalls: [
            { id: 'call_cmpl7_0_0', name: 'f', arguments: '{"x":1}' },
            { id: 'z', name: 'g', arguments: '{}' },
          ],
        },
      ],
    },
  },
  {
    name: 'no finish but [DONE], reasoning beside the completion count, a first chunk without choices',
    stream: sse(
      [
        { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [{ index: 0 }] },
        chunk({ content: 'Hi' }, null),
        {
          ...HEAD,
          choices: [],
          usage: { ...USAGE, total_tokens: 34, completion_tokens_details: { reasoning_tokens: 20 } },
        },
      ],
      '[DONE]',
    ),
    expected: {
      ...BASE,
      choices: [{ index: 0, text: 'Hi', finishReason: 'stop' }],
      usage: { ...OUR_USAGE, reasoningTokens: 20 },
      extra: { prompt_filter_results: [{ index: 0 }] },
    },
  },
];
