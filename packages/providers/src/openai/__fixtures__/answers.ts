import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatChoice } from '@llm0/core/chat/response';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { type AnswerFixture, type BrokenFixture, sse } from '../../provider.cases';

const HEAD = { id: 'chatcmpl-A1b2', object: 'chat.completion.chunk', created: 1_770_000_000, model: 'gpt-test-2026' };

/** A chunk of the vendor's own style, padding and all. */
export function chunk(delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return { ...HEAD, system_fingerprint: 'fp_1', choices, usage: null, obfuscation: 'x9', ...more };
}

export function usageChunk(usage: JsonObject, more: JsonObject = {}): JsonObject {
  return { ...HEAD, system_fingerprint: 'fp_1', choices: [], usage, ...more };
}

export function plain(message: JsonObject, finish: string, usage: JsonObject): JsonObject {
  return {
    ...HEAD,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, logprobs: null, finish_reason: finish }],
    usage,
    system_fingerprint: 'fp_1',
  };
}

const BASE = { id: HEAD.id, model: HEAD.model, createdSeconds: HEAD.created, extra: { system_fingerprint: 'fp_1' } };
const STOP: Pick<ChatChoice, 'index' | 'finishReason' | 'nativeFinishReason'> = {
  index: 0,
  finishReason: 'stop',
  nativeFinishReason: 'stop',
};

const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 64, audio_tokens: 6 },
  completion_tokens_details: { reasoning_tokens: 12, audio_tokens: 3 },
};
const OUR_USAGE = {
  ...ZERO_USAGE,
  inputTokens: 30,
  cacheReadTokens: 64,
  inputAudioTokens: 6,
  outputTokens: 5,
  reasoningTokens: 12,
  outputAudioTokens: 3,
};
const SMALL = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const OUR_SMALL = { ...ZERO_USAGE, inputTokens: 9, outputTokens: 3 };

const WEATHER = { id: 'call_w', name: 'weather', arguments: '{"city":"Zürich"}' };
const TIME = { id: 'call_t', name: 'time', arguments: '{}' };

const toolHead = (index: number, id: string, name: string): JsonObject => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
});
const toolPiece = (index: number, text: string): JsonObject => ({
  tool_calls: [{ index, function: { arguments: text } }],
});

export const ANSWERS: readonly AnswerFixture[] = [
  {
    name: 'text with usage of every class',
    stream: sse(
      [
        chunk({ role: 'assistant', content: '', refusal: null }),
        chunk({ content: 'Grüß ' }),
        chunk({ content: 'dich 😀' }),
        chunk({}, 'stop'),
        usageChunk(USAGE),
      ],
      '[DONE]',
    ),
    plain: plain({ content: 'Grüß dich 😀', refusal: null }, 'stop', USAGE),
    expected: { ...BASE, choices: [{ ...STOP, text: 'Grüß dich 😀' }], usage: OUR_USAGE },
  },
  {
    name: 'parallel tool calls in pieces',
    stream: sse(
      [
        chunk({ role: 'assistant', content: null }),
        chunk(toolHead(0, 'call_w', 'weather')),
        chunk(toolPiece(0, '{"city":')),
        chunk(toolHead(1, 'call_t', 'time')),
        chunk(toolPiece(0, '"Zürich"}')),
        chunk(toolPiece(1, '{}')),
        chunk({}, 'tool_calls'),
        usageChunk(SMALL),
      ],
      '[DONE]',
    ),
    plain: plain(
      {
        content: null,
        tool_calls: [WEATHER, TIME].map(({ id, ...body }) => ({ id, type: 'function', function: body })),
      },
      'tool_calls',
      SMALL,
    ),
    expected: {
      ...BASE,
      choices: [
        {
          ...STOP,
          text: null,
          toolCalls: [WEATHER, TIME],
          finishReason: 'tool_calls',
          nativeFinishReason: 'tool_calls',
        },
      ],
      usage: OUR_SMALL,
    },
  },
  {
    name: 'refusal, logprobs and unknown fields',
    stream: sse(
      [
        chunk({ role: 'assistant', content: null }, null, { service_tier: 'flex' }),
        chunk({ refusal: 'I ' }),
        { ...HEAD, choices: [{ index: 0, delta: { refusal: 'cannot.' }, logprobs: { content: [{ token: 'a' }] } }] },
        {
          ...HEAD,
          choices: [{ index: 0, delta: { annotations: [{ url: 'u' }] }, logprobs: { content: [{ token: 'b' }] } }],
        },
        chunk({}, 'stop'),
        usageChunk(SMALL),
      ],
      '[DONE]',
    ),
    expected: {
      ...BASE,
      choices: [
        {
          ...STOP,
          text: null,
          refusal: 'I cannot.',
          messageExtra: { annotations: [{ url: 'u' }] },
          choiceExtra: { logprobs: { content: [{ token: 'a' }, { token: 'b' }] } },
        },
      ],
      usage: { ...OUR_SMALL, serviceTier: 'flex' },
      extra: { system_fingerprint: 'fp_1', service_tier: 'flex' },
    },
  },
  {
    name: 'two choices, interleaved',
    stream: sse(
      [0, 1, 0, 1]
        .map((index, i) => ({
          ...HEAD,
          choices: [
            { index, delta: { ...(i < 2 ? { role: 'assistant' } : {}), content: `${index}${i}` }, finish_reason: null },
          ],
        }))
        .concat([{ ...HEAD, choices: [1, 0].map((index) => ({ index, delta: {}, finish_reason: 'stop' })) as never }]),
      '[DONE]',
    ),
    expected: {
      id: HEAD.id,
      model: HEAD.model,
      createdSeconds: HEAD.created,
      choices: [
        { ...STOP, text: '0002' },
        { ...STOP, index: 1, text: '1113' },
      ],
    },
  },
  {
    name: 'an older function call in pieces',
    stream: sse([
      chunk({ role: 'assistant', content: null, function_call: { name: 'f', arguments: '' } }),
      chunk({ function_call: { arguments: '{"a":' } }),
      chunk({ function_call: { arguments: '1}' } }),
      chunk({}, 'function_call'),
    ]),
    expected: {
      ...BASE,
      choices: [
        {
          ...STOP,
          text: null,
          messageExtra: { function_call: { name: 'f', arguments: '{"a":1}' } },
          finishReason: 'tool_calls',
          nativeFinishReason: 'function_call',
        },
      ],
    },
  },
];

const HELLO = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hel' }), chunk({ content: 'lo' })];

export const BROKEN: readonly BrokenFixture[] = [
  { name: 'a stream without finish or [DONE]', stream: sse(HELLO), failure: 'truncated', text: 'Hello' },
  { name: 'half an event at the end', stream: `${sse(HELLO)}data: {"id":"chat`, failure: 'truncated', text: 'Hello' },
  {
    name: 'an error object mid-stream',
    stream: sse([...HELLO, { error: { message: 'overloaded', type: 'server_error' } }]),
    failure: 'server_error',
    text: 'Hello',
  },
  {
    name: 'a rate limit inside a 200',
    stream: sse([{ error: { message: 'slow down', code: 429 } }]),
    failure: 'rate_limited',
  },
  { name: 'an error as an event', stream: 'event: error\ndata: {"message":"broke"}\n\n', failure: 'server_error' },
  { name: 'a bare message', stream: sse([{ detail: 'Not Found' }]), failure: 'server_error' },
  { name: 'a page', stream: '<html>\n<body>oops</body>\n\n</html>\n', failure: 'malformed' },
  {
    name: 'garbage where a chunk should be',
    stream: `${sse(HELLO)}data: {oops\n\n`,
    failure: 'malformed',
    text: 'Hello',
  },
  { name: 'nothing', stream: '', failure: 'malformed' },
  { name: '[DONE] alone', stream: sse([], '[DONE]'), failure: 'malformed' },
];
