import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatChoice } from '@llm0/core/chat/response';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { type AnswerFixture, type BrokenFixture, sse } from '../../provider.cases';

const ID = '29f14a5a-11de-4cae-9800-25e4747408ea';
/** Billed are the caller's words, processed also the vendor's: here nearly all of them from its cache. */
const USAGE = {
  billed_units: { input_tokens: 119, output_tokens: 44 },
  tokens: { input_tokens: 1549, output_tokens: 95 },
  cached_tokens: 1504,
};
const OUR_USAGE = { ...ZERO_USAGE, inputTokens: 119, outputTokens: 44 };

const EMPTY = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] };
const START = { id: ID, type: 'message-start', delta: { message: EMPTY } };

const event = (type: string, index: number, message?: JsonObject): JsonObject =>
  message === undefined ? { type, index } : { type, index, delta: { message } };
const end = (finish_reason: string, more: JsonObject = { usage: USAGE }): JsonObject => ({
  type: 'message-end',
  delta: { finish_reason, ...more },
});

/** A block of content in pieces. */
const block = (type: 'text' | 'thinking', index: number, ...pieces: string[]): JsonObject[] => [
  event('content-start', index, { content: { type, [type]: '' } }),
  ...pieces.map((piece) => event('content-delta', index, { content: { [type]: piece } })),
  event('content-end', index),
];

/** A call in pieces. */
const call = (index: number, id: string, name: string, ...pieces: string[]): JsonObject[] => [
  event('tool-call-start', index, {
    tool_calls: { id, type: 'function', function: { name, arguments: '' } },
  }),
  ...pieces.map((piece) => event('tool-call-delta', index, { tool_calls: { function: { arguments: piece } } })),
  event('tool-call-end', index),
];

const whole = (finish_reason: string, message: JsonObject): JsonObject => ({
  ...{ id: ID, finish_reason, usage: USAGE },
  message: { role: 'assistant', ...message },
});

const ended = (finishReason: ChatChoice['finishReason'], nativeFinishReason: string) => ({
  ...{ index: 0, finishReason, nativeFinishReason },
});
const STOPPED = ended('stop', 'COMPLETE');

const CITATION = {
  ...{ start: 0, end: 5, text: 'Grüße', type: 'TEXT_CONTENT' },
  sources: [{ type: 'document', id: 'doc:0', document: { id: 'doc:0', title: 'Gruß' } }],
};

export const ANSWERS: readonly AnswerFixture[] = [
  {
    name: 'text',
    stream: sse([START, ...block('text', 0, 'Grüß ', 'dich 😀'), end('COMPLETE')]),
    plain: whole('COMPLETE', { content: [{ type: 'text', text: 'Grüß dich 😀' }] }),
    expected: { id: ID, choices: [{ ...STOPPED, text: 'Grüß dich 😀' }], usage: OUR_USAGE },
  },
  {
    name: 'thoughts beside text',
    stream: sse([START, ...block('thinking', 0, 'Let me ', 'see…'), ...block('text', 1, '42'), end('COMPLETE')]),
    plain: whole('COMPLETE', {
      content: [
        { type: 'thinking', thinking: 'Let me see…' },
        { type: 'text', text: '42' },
      ],
    }),
    expected: { id: ID, choices: [{ ...STOPPED, text: '42', reasoning: 'Let me see…' }], usage: OUR_USAGE },
  },
  {
    name: 'a plan, then parallel calls, one without arguments',
    stream: sse([
      START,
      event('tool-plan-delta', 0, { tool_plan: 'I will ' }),
      event('tool-plan-delta', 0, { tool_plan: 'look.' }),
      ...call(0, 'weather_n04jqxg7zqyn', 'weather', '{"city":', '"Zürich"}'),
      ...call(1, 'time_m9vmzwh8c7hq', 'time'),
      end('TOOL_CALL'),
    ]),
    plain: whole('TOOL_CALL', {
      tool_plan: 'I will look.',
      tool_calls: [
        {
          ...{ id: 'weather_n04jqxg7zqyn', type: 'function' },
          function: { name: 'weather', arguments: '{"city":"Zürich"}' },
        },
        { id: 'time_m9vmzwh8c7hq', type: 'function', function: { name: 'time' } },
      ],
    }),
    expected: {
      id: ID,
      choices: [
        {
          ...{ ...ended('tool_calls', 'TOOL_CALL'), text: null, reasoning: 'I will look.' },
          toolCalls: [
            { id: 'weather_n04jqxg7zqyn', name: 'weather', arguments: '{"city":"Zürich"}' },
            { id: 'time_m9vmzwh8c7hq', name: 'time', arguments: '{}' },
          ],
        },
      ],
      usage: OUR_USAGE,
    },
  },
  {
    name: 'text with its sources',
    stream: sse([
      START,
      ...block('text', 0, 'Grüße'),
      event('citation-start', 0, { citations: CITATION }),
      event('citation-end', 0),
      end('COMPLETE'),
    ]),
    plain: whole('COMPLETE', { content: [{ type: 'text', text: 'Grüße' }], citations: [CITATION] }),
    expected: {
      id: ID,
      choices: [{ ...STOPPED, text: 'Grüße', messageExtra: { citations: [CITATION] } }],
      usage: OUR_USAGE,
    },
  },
  {
    name: 'the limit reached; without a bill, what was processed counts',
    stream: sse([START, ...block('text', 0, 'Once'), end('MAX_TOKENS', { usage: { tokens: USAGE.tokens } })]),
    expected: {
      id: ID,
      choices: [{ ...ended('length', 'MAX_TOKENS'), text: 'Once' }],
      usage: { ...ZERO_USAGE, inputTokens: 1549, outputTokens: 95 },
    },
  },
  {
    name: 'an answer that is stopped midway',
    stream: sse([START, ...block('text', 0, 'Once'), end('ERROR_TOXIC')]),
    plain: whole('ERROR_TOXIC', { content: [{ type: 'text', text: 'Once' }] }),
    expected: { id: ID, choices: [{ ...ended('content_filter', 'ERROR_TOXIC'), text: 'Once' }], usage: OUR_USAGE },
  },
  {
    name: 'lists where there is one object, no indexes, kinds that nobody knows, and an end mark',
    stream: sse(
      [
        { type: 'debug', prompt: 'x' },
        START,
        { type: 'content-delta', delta: { message: { content: [{ text: 'Hm' }, { type: 'image', data: 'AAAA' }] } } },
        {
          type: 'tool-call-start',
          delta: { message: { tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{' } }] } },
        },
        { type: 'tool-call-delta', delta: { message: { tool_calls: [{ function: { arguments: '}' } }] } } },
        { type: 'tool-call-end' },
        end('COMPLETE'),
      ],
      '[DONE]',
    ),
    expected: {
      id: ID,
      choices: [
        {
          ...{ ...ended('tool_calls', 'COMPLETE'), text: 'Hm' },
          toolCalls: [{ id: 'a', name: 'f', arguments: '{}' }],
        },
      ],
      usage: OUR_USAGE,
    },
  },
];

const HELLO = [START, ...block('text', 0, 'Hel', 'lo')];

export const BROKEN: readonly BrokenFixture[] = [
  { name: 'no end', stream: sse(HELLO), failure: 'truncated', text: 'Hello' },
  { name: 'half an event at the end', stream: `${sse(HELLO)}data: {"type`, failure: 'truncated', text: 'Hello' },
  {
    name: 'an ending that is a failure',
    stream: sse([...HELLO, end('ERROR', { error: 'internal error' })]),
    failure: 'server_error',
    text: 'Hello',
  },
  { name: 'out of time', stream: sse([...HELLO, end('TIMEOUT')]), failure: 'server_error', text: 'Hello' },
  {
    name: 'an error mid-stream',
    stream: sse([...HELLO, { id: ID, message: 'too many tokens' }]),
    failure: 'server_error',
    text: 'Hello',
  },
  { name: 'the end alone', stream: sse([end('COMPLETE')]), failure: 'malformed' },
  { name: 'a page', stream: '<html>\n<body>oops</body>\n\n</html>\n', failure: 'malformed' },
  { name: 'nothing', stream: '', failure: 'malformed' },
];
