import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatChoice } from '@llm0/core/chat/response';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import type { AnswerFixture, BrokenFixture } from '../../provider.cases';

const HEAD = { id: 'msg_A1b2', type: 'message', role: 'assistant', model: 'claude-test-5' };

/** Payloads as the vendor sends them: each event named by its type, pings in between. */
export function messageEvents(payloads: readonly JsonObject[]): string {
  return payloads.map((payload) => `event: ${String(payload.type)}\ndata: ${JSON.stringify(payload)}\n\n`).join('');
}

const PING: JsonObject = { type: 'ping' };
const start = (usage: JsonObject): JsonObject => ({
  type: 'message_start',
  message: { ...HEAD, content: [], stop_reason: null, stop_sequence: null, usage },
});
const open = (index: number, block: JsonObject): JsonObject => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
const piece = (index: number, delta: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta });
const close = (index: number): JsonObject => ({ type: 'content_block_stop', index });
const ending = (delta: JsonObject, usage: JsonObject): JsonObject[] => [
  { type: 'message_delta', delta: { stop_sequence: null, ...delta }, usage },
  { type: 'message_stop' },
];
const textBlock = (index: number, ...texts: string[]): JsonObject[] => [
  open(index, { type: 'text', text: '' }),
  ...texts.map((text) => piece(index, { type: 'text_delta', text })),
  close(index),
];
const json = (text: string): JsonObject => ({ type: 'input_json_delta', partial_json: text });

const whole = (content: JsonObject[], stop: JsonObject, usage: JsonObject): JsonObject => ({
  ...HEAD,
  content,
  stop_sequence: null,
  ...stop,
  usage,
});

const BASE = { id: HEAD.id, model: HEAD.model };
const END_TURN: Pick<ChatChoice, 'index' | 'finishReason' | 'nativeFinishReason'> = {
  index: 0,
  finishReason: 'stop',
  nativeFinishReason: 'end_turn',
};

const USAGE = {
  input_tokens: 12,
  cache_creation_input_tokens: 100,
  cache_read_input_tokens: 40,
  cache_creation: { ephemeral_5m_input_tokens: 70, ephemeral_1h_input_tokens: 30 },
  output_tokens: 9,
  service_tier: 'standard',
};
const OUR_USAGE = {
  ...ZERO_USAGE,
  inputTokens: 12,
  cacheReadTokens: 40,
  cacheWriteTokens: 70,
  cacheWrite1hTokens: 30,
  outputTokens: 9,
};
const SMALL = { input_tokens: 7, output_tokens: 5 };
const OUR_SMALL = { ...ZERO_USAGE, inputTokens: 7, outputTokens: 5 };

const THOUGHT = { type: 'thinking', thinking: 'Let me see…', signature: 'c2lnbmVk' };
const SEALED = { type: 'redacted_thinking', data: 'c2VhbGVk' };
const WEATHER = { type: 'tool_use', id: 'toolu_w', name: 'weather', input: { city: 'Zürich' } };
const TIME = { type: 'tool_use', id: 'toolu_t', name: 'time', input: {} };
const EXPLANATION = 'This request cannot be answered.';
const JSON_CALL = { type: 'tool_use', id: 'toolu_j', name: 'llm0_json_answer', input: { city: 'Bern' } };
const SEARCH = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } };
const CITATION = { type: 'web_search_result_location', url: 'https://example.com', cited_text: 'y' };

export const ANSWERS: readonly AnswerFixture[] = [
  {
    name: 'text with usage of every class, cumulative',
    stream: messageEvents([
      start({ ...USAGE, output_tokens: 1 }),
      PING,
      ...textBlock(0, 'Grüß ', 'dich 😀'),
      ...ending({ stop_reason: 'end_turn' }, { output_tokens: 9 }),
    ]),
    plain: whole([{ type: 'text', text: 'Grüß dich 😀' }], { stop_reason: 'end_turn' }, USAGE),
    expected: { ...BASE, choices: [{ ...END_TURN, text: 'Grüß dich 😀' }], usage: OUR_USAGE },
  },
  {
    name: 'thoughts, signed and sealed, then text',
    stream: messageEvents([
      start({ ...SMALL, output_tokens: 2 }),
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      piece(0, { type: 'thinking_delta', thinking: 'Let me ' }),
      piece(0, { type: 'thinking_delta', thinking: 'see…' }),
      piece(0, { type: 'thinking_delta', thinking: '' }),
      piece(0, { type: 'signature_delta', signature: 'c2lnbmVk' }),
      close(0),
      open(1, SEALED),
      close(1),
      ...textBlock(2, '42'),
      ...ending({ stop_reason: 'end_turn' }, { ...SMALL, output_tokens_details: { thinking_tokens: 3 } }),
    ]),
    plain: whole(
      [THOUGHT, SEALED, { type: 'text', text: '42' }],
      { stop_reason: 'end_turn' },
      { ...SMALL, output_tokens_details: { thinking_tokens: 3 } },
    ),
    expected: {
      ...BASE,
      choices: [
        {
          ...END_TURN,
          text: '42',
          reasoning: 'Let me see…',
          reasoningDetails: [
            { type: 'reasoning.text', text: 'Let me see…', signature: 'c2lnbmVk', format: 'anthropic-claude-v1' },
            { type: 'reasoning.encrypted', data: 'c2VhbGVk', format: 'anthropic-claude-v1' },
          ],
        },
      ],
      usage: { ...OUR_SMALL, outputTokens: 2, reasoningTokens: 3 },
    },
  },
  {
    name: 'text, then parallel calls, one without arguments',
    stream: messageEvents([
      start({ ...SMALL, output_tokens: 1 }),
      ...textBlock(0, 'One moment.'),
      open(1, { ...WEATHER, input: {} }),
      piece(1, json('')),
      piece(1, json('{"city":')),
      piece(1, json('"Zürich"}')),
      close(1),
      PING,
      open(2, TIME),
      piece(2, json('')),
      close(2),
      ...ending({ stop_reason: 'tool_use' }, SMALL),
    ]),
    plain: whole([{ type: 'text', text: 'One moment.' }, WEATHER, TIME], { stop_reason: 'tool_use' }, SMALL),
    expected: {
      ...BASE,
      choices: [
        {
          index: 0,
          text: 'One moment.',
          toolCalls: [
            { id: 'toolu_w', name: 'weather', arguments: '{"city":"Zürich"}' },
            { id: 'toolu_t', name: 'time', arguments: '{}' },
          ],
          finishReason: 'tool_calls',
          nativeFinishReason: 'tool_use',
        },
      ],
      usage: OUR_SMALL,
    },
  },
  {
    name: 'a refusal without any content',
    stream: messageEvents([
      start({ ...SMALL, output_tokens: 1 }),
      ...ending({ stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: EXPLANATION } }, SMALL),
    ]),
    plain: whole([], { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: EXPLANATION } }, SMALL),
    expected: {
      ...BASE,
      choices: [
        {
          index: 0,
          text: null,
          refusal: EXPLANATION,
          finishReason: 'content_filter',
          nativeFinishReason: 'refusal',
        },
      ],
      usage: OUR_SMALL,
    },
  },
  {
    name: 'structured output through a tool is content',
    stream: messageEvents([
      start({ ...SMALL, output_tokens: 1 }),
      open(0, { ...JSON_CALL, input: {} }),
      piece(0, json('{"city":')),
      piece(0, json('"Bern"}')),
      close(0),
      ...ending({ stop_reason: 'tool_use' }, SMALL),
    ]),
    plain: whole([JSON_CALL], { stop_reason: 'tool_use' }, SMALL),
    expected: {
      ...BASE,
      choices: [{ index: 0, text: '{"city":"Bern"}', finishReason: 'stop', nativeFinishReason: 'tool_use' }],
      usage: OUR_SMALL,
    },
  },
  {
    name: 'a stop sequence, and the limit on another tier',
    stream: messageEvents([
      start({ ...SMALL, service_tier: 'priority' }),
      ...textBlock(0, 'a, b'),
      ...ending({ stop_reason: 'stop_sequence', stop_sequence: ', c' }, { output_tokens: 5 }),
    ]),
    plain: whole(
      [{ type: 'text', text: 'a, b' }],
      { stop_reason: 'stop_sequence', stop_sequence: ', c' },
      { ...SMALL, service_tier: 'priority' },
    ),
    expected: {
      ...BASE,
      choices: [
        { ...END_TURN, text: 'a, b', nativeFinishReason: 'stop_sequence', choiceExtra: { stop_sequence: ', c' } },
      ],
      usage: { ...OUR_SMALL, serviceTier: 'priority' },
    },
  },
  {
    name: 'a search of its own, with citations',
    stream: messageEvents([
      start(SMALL),
      open(0, { ...SEARCH, input: {} }),
      piece(0, json('{"query":"x"}')),
      close(0),
      open(1, { type: 'text', text: '' }),
      piece(1, { type: 'text_delta', text: 'z' }),
      piece(1, { type: 'citations_delta', citation: CITATION }),
      close(1),
      ...ending({ stop_reason: 'end_turn' }, SMALL),
    ]),
    plain: whole([SEARCH, { type: 'text', text: 'z', citations: [CITATION] }], { stop_reason: 'end_turn' }, SMALL),
    expected: {
      ...BASE,
      choices: [{ ...END_TURN, text: 'z', messageExtra: { citations: [CITATION], native_content: [SEARCH] } }],
      usage: OUR_SMALL,
    },
  },
];

const HELLO = [start({ ...SMALL, output_tokens: 1 }), ...textBlock(0, 'Hel', 'lo')];

export const BROKEN: readonly BrokenFixture[] = [
  { name: 'no message_stop', stream: messageEvents(HELLO), failure: 'truncated', text: 'Hello' },
  {
    name: 'a reason to stop, but no message_stop',
    stream: messageEvents([...HELLO, ...ending({ stop_reason: 'end_turn' }, SMALL).slice(0, 1)]),
    failure: 'truncated',
    text: 'Hello',
  },
  {
    name: 'overloaded mid-stream',
    stream: messageEvents([...HELLO, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]),
    failure: 'server_error',
    text: 'Hello',
  },
  {
    name: 'a rate limit inside a 200',
    stream: messageEvents([{ type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } }]),
    failure: 'rate_limited',
  },
  {
    name: 'half an event at the end',
    stream: `${messageEvents(HELLO)}event: message_delta\ndata: {"type":"mess`,
    failure: 'truncated',
    text: 'Hello',
  },
  {
    name: 'a piece of a block that never began',
    stream: messageEvents([start(SMALL), piece(3, { type: 'text_delta', text: 'x' })]),
    failure: 'malformed',
  },
  { name: 'an end and nothing else', stream: messageEvents([{ type: 'message_stop' }]), failure: 'malformed' },
  { name: 'a page', stream: '<html>\n<body>oops</body>\n\n</html>\n', failure: 'malformed' },
  { name: 'nothing', stream: '', failure: 'malformed' },
];
