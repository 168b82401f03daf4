import type { JsonObject } from '@llm0/core/chat/json';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import type { AnswerFixture, BrokenFixture } from '../../provider.cases';

const codec = new EventStreamCodec(
  (bytes) => new TextDecoder().decode(bytes as Uint8Array),
  (text) => new TextEncoder().encode(text),
);

/** One message as the vendor's own library writes it. */
export function frame(headers: Readonly<Record<string, string>>, payload: JsonObject | string): Uint8Array {
  const entries = Object.entries(headers).map(([name, value]) => [`:${name}`, { type: 'string', value }]);
  const body = new TextEncoder().encode(typeof payload === 'string' ? payload : JSON.stringify(payload));
  return codec.encode({ headers: Object.fromEntries(entries), body });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const event = (type: string, payload: JsonObject): Uint8Array =>
  frame({ 'event-type': type, ...JSON_TYPE, 'message-type': 'event' }, payload);
const exception = (type: string, message: string): Uint8Array =>
  frame({ 'exception-type': type, ...JSON_TYPE, 'message-type': 'exception' }, { message });

/** Payloads by the kind of their event, with the padding that the vendor adds to each. */
export function converseEvents(payloads: readonly (readonly [string, JsonObject])[]): Uint8Array {
  return Buffer.concat(payloads.map(([type, payload]) => event(type, { ...payload, p: 'abcdefgh' })));
}

type Events = (readonly [string, JsonObject])[];
const START: readonly [string, JsonObject] = ['messageStart', { role: 'assistant' }];
const piece = (contentBlockIndex: number, delta: JsonObject): readonly [string, JsonObject] => [
  'contentBlockDelta',
  { contentBlockIndex, delta },
];
const close = (contentBlockIndex: number): readonly [string, JsonObject] => ['contentBlockStop', { contentBlockIndex }];
const textBlock = (index: number, ...texts: string[]): Events => [
  ...texts.map((text) => piece(index, { text })),
  close(index),
];
const callBlock = (index: number, toolUseId: string, name: string, ...inputs: string[]): Events => [
  ['contentBlockStart', { contentBlockIndex: index, start: { toolUse: { toolUseId, name } } }],
  ...inputs.map((input) => piece(index, { toolUse: { input } })),
  close(index),
];
const ending = (stopReason: string, usage: JsonObject, more: JsonObject = {}): Events => [
  ['messageStop', { stopReason }],
  ['metadata', { usage, metrics: { latencyMs: 100 }, ...more }],
];
const whole = (content: JsonObject[], stopReason: string, usage: JsonObject, more: JsonObject = {}): JsonObject => ({
  output: { message: { role: 'assistant', content } },
  stopReason,
  usage,
  metrics: { latencyMs: 100 },
  ...more,
});

const USAGE = {
  inputTokens: 12,
  outputTokens: 9,
  totalTokens: 161,
  cacheReadInputTokens: 40,
  cacheWriteInputTokens: 100,
  cacheDetails: [
    { ttl: '1h', inputTokens: 30 },
    { ttl: '5m', inputTokens: 70 },
  ],
};
const OUR_USAGE = {
  ...ZERO_USAGE,
  inputTokens: 12,
  cacheReadTokens: 40,
  cacheWriteTokens: 70,
  cacheWrite1hTokens: 30,
  outputTokens: 9,
};
const SMALL = { inputTokens: 7, outputTokens: 5, totalTokens: 12 };
const OUR_SMALL = { ...ZERO_USAGE, inputTokens: 7, outputTokens: 5 };
const TRACE = { guardrail: { actionReason: 'blocked' } };
const FORMAT = 'bedrock-converse-v1';
const CITATION = { title: 'a', sourceContent: [{ text: 'y' }] };

export const ANSWERS: readonly AnswerFixture<Uint8Array>[] = [
  {
    name: 'text with usage of every class',
    stream: converseEvents([START, ...textBlock(0, 'Grüß ', 'dich 😀'), ...ending('end_turn', USAGE)]),
    plain: whole([{ text: 'Grüß dich 😀' }], 'end_turn', USAGE),
    expected: {
      choices: [{ index: 0, text: 'Grüß dich 😀', finishReason: 'stop', nativeFinishReason: 'end_turn' }],
      usage: OUR_USAGE,
    },
  },
  {
    name: 'thoughts, signed and sealed, then text',
    stream: converseEvents([
      START,
      piece(0, { reasoningContent: { text: 'Let me ' } }),
      piece(0, { reasoningContent: { text: 'see…' } }),
      piece(0, { reasoningContent: { signature: 'c2ln' } }),
      piece(0, { reasoningContent: { signature: 'bmVk' } }),
      close(0),
      piece(1, { reasoningContent: { redactedContent: 'c2VhbGVk' } }),
      close(1),
      ...textBlock(2, '42'),
      ...ending('end_turn', SMALL),
    ]),
    plain: whole(
      [
        { reasoningContent: { reasoningText: { text: 'Let me see…', signature: 'c2lnbmVk' } } },
        { reasoningContent: { redactedContent: 'c2VhbGVk' } },
        { text: '42' },
      ],
      'end_turn',
      SMALL,
    ),
    expected: {
      choices: [
        {
          index: 0,
          text: '42',
          reasoning: 'Let me see…',
          reasoningDetails: [
            { type: 'reasoning.text', text: 'Let me see…', signature: 'c2lnbmVk', format: FORMAT },
            { type: 'reasoning.encrypted', data: 'c2VhbGVk', format: FORMAT },
          ],
          finishReason: 'stop',
          nativeFinishReason: 'end_turn',
        },
      ],
      usage: OUR_SMALL,
    },
  },
  {
    name: 'text, then parallel calls, one without arguments',
    stream: converseEvents([
      START,
      ...textBlock(0, 'One moment.'),
      ...callBlock(1, 'tooluse_w', 'weather', '', '{"city":', '"Zürich"}'),
      ...callBlock(2, 'tooluse_t', 'time'),
      ...ending('tool_use', SMALL),
    ]),
    plain: whole(
      [
        { text: 'One moment.' },
        { toolUse: { toolUseId: 'tooluse_w', name: 'weather', input: { city: 'Zürich' } } },
        { toolUse: { toolUseId: 'tooluse_t', name: 'time', input: {} } },
      ],
      'tool_use',
      SMALL,
    ),
    expected: {
      choices: [
        {
          index: 0,
          text: 'One moment.',
          toolCalls: [
            { id: 'tooluse_w', name: 'weather', arguments: '{"city":"Zürich"}' },
            { id: 'tooluse_t', name: 'time', arguments: '{}' },
          ],
          finishReason: 'tool_calls',
          nativeFinishReason: 'tool_use',
        },
      ],
      usage: OUR_SMALL,
    },
  },
  {
    name: 'structured output through a tool is content',
    stream: converseEvents([
      START,
      ...callBlock(0, 'tooluse_j', 'llm0_json_answer', '{"city":', '"Bern"}'),
      ...ending('tool_use', SMALL),
    ]),
    plain: whole(
      [{ toolUse: { toolUseId: 'tooluse_j', name: 'llm0_json_answer', input: { city: 'Bern' } } }],
      'tool_use',
      SMALL,
    ),
    expected: {
      choices: [{ index: 0, text: '{"city":"Bern"}', finishReason: 'stop', nativeFinishReason: 'tool_use' }],
      usage: OUR_SMALL,
    },
  },
  {
    name: 'a guardrail that intervened, on another tier',
    stream: converseEvents([
      START,
      ...textBlock(0, 'Sorry.'),
      ...ending('guardrail_intervened', SMALL, { trace: TRACE, serviceTier: { type: 'priority' } }),
    ]),
    plain: whole([{ text: 'Sorry.' }], 'guardrail_intervened', SMALL, {
      trace: TRACE,
      serviceTier: { type: 'priority' },
    }),
    expected: {
      choices: [
        { index: 0, text: 'Sorry.', finishReason: 'content_filter', nativeFinishReason: 'guardrail_intervened' },
      ],
      usage: { ...OUR_SMALL, serviceTier: 'priority' },
      extra: { trace: TRACE },
    },
  },
  {
    name: 'the limit reached, with a citation',
    stream: converseEvents([
      START,
      piece(0, { text: 'z' }),
      piece(0, { citation: CITATION }),
      close(0),
      ...ending('max_tokens', SMALL, { unknown: true }),
    ]),
    plain: whole([{ citationsContent: { content: [{ text: 'z' }], citations: [CITATION] } }], 'max_tokens', SMALL),
    expected: {
      choices: [
        {
          index: 0,
          text: 'z',
          finishReason: 'length',
          nativeFinishReason: 'max_tokens',
          messageExtra: { citations: [CITATION] },
        },
      ],
      usage: OUR_SMALL,
    },
  },
  {
    name: 'nothing but a filter, and cached tokens counted within the input',
    stream: converseEvents([
      START,
      ...ending('content_filtered', { inputTokens: 50, outputTokens: 0, totalTokens: 50, cacheReadInputTokens: 40 }),
    ]),
    expected: {
      choices: [{ index: 0, text: null, finishReason: 'content_filter', nativeFinishReason: 'content_filtered' }],
      usage: { ...ZERO_USAGE, inputTokens: 10, cacheReadTokens: 40 },
    },
  },
];

const HELLO: Events = [START, ...textBlock(0, 'Hel', 'lo')];
const hello = converseEvents(HELLO);

function damaged(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}

export const BROKEN: readonly BrokenFixture<Uint8Array>[] = [
  { name: 'no messageStop', stream: hello, failure: 'truncated', text: 'Hello' },
  {
    name: 'throttled mid-stream',
    stream: Buffer.concat([hello, exception('throttlingException', 'Too many tokens')]),
    failure: 'rate_limited',
    text: 'Hello',
  },
  {
    name: 'the model failed mid-stream',
    stream: Buffer.concat([hello, exception('modelStreamErrorException', 'broken')]),
    failure: 'server_error',
    text: 'Hello',
  },
  {
    name: 'a mistake in the request, told in the stream',
    stream: exception('validationException', 'The maximum tokens you requested exceeds the limit'),
    failure: 'rejected',
  },
  {
    name: 'an error that is no exception',
    stream: Buffer.concat([
      hello,
      frame({ 'message-type': 'error', 'error-code': 'InternalFailure', 'error-message': 'oops' }, ''),
    ]),
    failure: 'server_error',
    text: 'Hello',
  },
  {
    name: 'half a message at the end',
    stream: Buffer.concat([hello, event('messageStop', { stopReason: 'end_turn' }).slice(0, 40)]),
    failure: 'truncated',
    text: 'Hello',
  },
  {
    name: 'a payload whose checksum is wrong',
    stream: Buffer.concat([hello, damaged(event('contentBlockDelta', { delta: { text: 'x' } }), 100)]),
    failure: 'malformed',
    text: 'Hello',
  },
  {
    name: 'a length whose checksum is wrong',
    stream: Buffer.concat([hello, damaged(event('contentBlockDelta', { delta: { text: 'x' } }), 2)]),
    failure: 'malformed',
    text: 'Hello',
  },
  {
    name: 'a call the model got wrong',
    stream: converseEvents([START, ...ending('malformed_tool_use', SMALL)]),
    failure: 'malformed',
  },
  { name: 'a stop and nothing else', stream: converseEvents(ending('end_turn', SMALL)), failure: 'malformed' },
  { name: 'a page', stream: new TextEncoder().encode('<html>\n<body>oops</body>\n\n</html>\n'), failure: 'malformed' },
  { name: 'nothing', stream: new Uint8Array(0), failure: 'malformed' },
];
