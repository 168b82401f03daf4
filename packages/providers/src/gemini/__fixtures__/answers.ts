import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatChoice } from '@llm0/core/chat/response';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { type AnswerFixture, type BrokenFixture, sse } from '../../provider.cases';

const TAIL = { modelVersion: 'gemini-test-3', responseId: 'aB3_-d' };
const SMALL = { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 };
const OUR_SMALL = { ...ZERO_USAGE, inputTokens: 9, outputTokens: 4 };

/** A chunk, or a whole answer: the vendor gives both the same shape. */
const chunk = (parts: JsonObject[], more: JsonObject = {}, usage: JsonObject = SMALL): JsonObject => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
  usageMetadata: usage,
  ...TAIL,
});
const STOP = { finishReason: 'STOP' };

const BASE = { id: TAIL.responseId, model: TAIL.modelVersion };
const STOPPED: Pick<ChatChoice, 'index' | 'finishReason' | 'nativeFinishReason'> = {
  index: 0,
  finishReason: 'stop',
  nativeFinishReason: 'STOP',
};

const USAGE = {
  promptTokenCount: 100,
  toolUsePromptTokenCount: 10,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 20,
  thoughtsTokenCount: 30,
  totalTokenCount: 160,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 85 },
    { modality: 'AUDIO', tokenCount: 15 },
  ],
  cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 5 }],
};
const OUR_USAGE = {
  ...ZERO_USAGE,
  inputTokens: 60,
  cacheReadTokens: 40,
  inputAudioTokens: 10,
  outputTokens: 20,
  reasoningTokens: 30,
};

const WEATHER = { functionCall: { name: 'weather', args: { city: 'Zürich' } }, thoughtSignature: 'c2lnbmVk' };
const TIME = { functionCall: { id: 'fc-2', name: 'time' } };
const LOGPROBS = {
  chosenCandidates: [{ token: 'é', logProbability: -0.5 }],
  topCandidates: [{ candidates: [{ token: 'é', logProbability: -0.5 }] }],
};

export const ANSWERS: readonly AnswerFixture[] = [
  {
    name: 'text with usage of every class; the last counts',
    stream: sse([
      chunk([{ text: 'Grüß ' }], {}, { ...USAGE, candidatesTokenCount: 5, totalTokenCount: 145 }),
      chunk([{ text: 'dich 😀' }], STOP, USAGE),
    ]),
    plain: chunk([{ text: 'Grüß ' }, { text: 'dich 😀' }], STOP, USAGE),
    expected: { ...BASE, choices: [{ ...STOPPED, text: 'Grüß dich 😀' }], usage: OUR_USAGE },
  },
  {
    name: 'thoughts beside text, signed at the end',
    stream: sse([
      chunk([{ text: 'Let me ', thought: true }]),
      chunk([{ text: 'see…', thought: true }]),
      chunk([{ text: '42' }]),
      chunk([{ text: '', thoughtSignature: 'c2lnbmVk' }], STOP),
    ]),
    plain: chunk(
      [
        { text: 'Let me see…', thought: true },
        { text: '42', thoughtSignature: 'c2lnbmVk' },
      ],
      STOP,
    ),
    expected: {
      ...BASE,
      choices: [
        {
          ...STOPPED,
          text: '42',
          reasoning: 'Let me see…',
          reasoningDetails: [{ type: 'reasoning.encrypted', data: 'c2lnbmVk', format: 'google-gemini-v1' }],
        },
      ],
      usage: OUR_SMALL,
    },
  },
  {
    name: 'text, then parallel calls over several chunks, one without arguments or id',
    stream: sse([chunk([{ text: 'One moment.' }]), chunk([WEATHER]), chunk([TIME]), chunk([{ text: '' }], STOP)]),
    plain: chunk([{ text: 'One moment.' }, WEATHER, TIME], STOP),
    expected: {
      ...BASE,
      choices: [
        {
          ...STOPPED,
          text: 'One moment.',
          toolCalls: [
            { id: 'call_aB3_d_0_0', name: 'weather', arguments: '{"city":"Zürich"}', signature: 'c2lnbmVk' },
            { id: 'fc-2', name: 'time', arguments: '{}' },
          ],
          finishReason: 'tool_calls',
        },
      ],
      usage: OUR_SMALL,
    },
  },
  {
    name: 'a prompt that is blocked',
    stream: sse([
      {
        promptFeedback: { blockReason: 'SAFETY' },
        usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
        ...TAIL,
      },
    ]),
    plain: {
      promptFeedback: { blockReason: 'SAFETY' },
      usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
      ...TAIL,
    },
    expected: {
      ...BASE,
      choices: [{ index: 0, text: null, finishReason: 'content_filter', nativeFinishReason: 'SAFETY' }],
      usage: { ...ZERO_USAGE, inputTokens: 9 },
    },
  },
  {
    name: 'an answer that is stopped midway',
    stream: sse([chunk([{ text: 'Once' }]), { ...chunk([], { finishReason: 'RECITATION' }) }]),
    plain: chunk([{ text: 'Once' }], { finishReason: 'RECITATION' }),
    expected: {
      ...BASE,
      choices: [{ index: 0, text: 'Once', finishReason: 'content_filter', nativeFinishReason: 'RECITATION' }],
      usage: OUR_SMALL,
    },
  },
  {
    name: 'the limit reached within thoughts; the total tells what single counts leave out',
    stream: sse([
      {
        candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }],
        usageMetadata: { promptTokenCount: 9, thoughtsTokenCount: 60, totalTokenCount: 72 },
        ...TAIL,
      },
    ]),
    expected: {
      ...BASE,
      choices: [{ index: 0, text: null, finishReason: 'length', nativeFinishReason: 'MAX_TOKENS' }],
      usage: { ...ZERO_USAGE, inputTokens: 9, outputTokens: 3, reasoningTokens: 60 },
    },
  },
  {
    name: 'two candidates, a picture, sources and probabilities',
    stream: sse([
      {
        candidates: [
          { content: { parts: [{ text: 'é' }] }, index: 0, finishReason: 'STOP', logprobsResult: LOGPROBS },
          {
            content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
            index: 1,
            finishReason: 'OTHER',
            groundingMetadata: { webSearchQueries: ['x'] },
          },
        ],
        usageMetadata: SMALL,
        ...TAIL,
      },
    ]),
    expected: {
      ...BASE,
      choices: [
        {
          ...STOPPED,
          text: 'é',
          choiceExtra: {
            logprobs: {
              content: [
                {
                  token: 'é',
                  logprob: -0.5,
                  bytes: [195, 169],
                  top_logprobs: [{ token: 'é', logprob: -0.5, bytes: [195, 169] }],
                },
              ],
            },
          },
        },
        {
          index: 1,
          text: null,
          finishReason: 'stop',
          nativeFinishReason: 'OTHER',
          messageExtra: {
            images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
            groundingMetadata: { webSearchQueries: ['x'] },
          },
        },
      ],
      // Output that isn't split, with an image.
      usage: { ...OUR_SMALL, outputTokens: 0, outputImageTokens: OUR_SMALL.outputTokens },
    },
  },
  {
    name: 'a failed call after text is just the end of it',
    stream: sse([chunk([{ text: 'Hm' }]), chunk([], { finishReason: 'MALFORMED_FUNCTION_CALL' })]),
    expected: {
      ...BASE,
      choices: [{ ...STOPPED, text: 'Hm', nativeFinishReason: 'MALFORMED_FUNCTION_CALL' }],
      usage: OUR_SMALL,
    },
  },
];

const HELLO = [chunk([{ text: 'Hel' }]), chunk([{ text: 'lo' }])];

export const BROKEN: readonly BrokenFixture[] = [
  { name: 'no finish reason', stream: sse(HELLO), failure: 'truncated', text: 'Hello' },
  { name: 'half an event at the end', stream: `${sse(HELLO)}data: {"candi`, failure: 'truncated', text: 'Hello' },
  {
    name: 'an error mid-stream',
    stream: sse([...HELLO, { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }]),
    failure: 'server_error',
    text: 'Hello',
  },
  {
    name: 'a quota error inside a 200',
    stream: sse([{ error: { code: 429, message: 'Quota', status: 'RESOURCE_EXHAUSTED' } }]),
    failure: 'rate_limited',
  },
  {
    name: 'a failed call and nothing else',
    stream: sse([chunk([], { finishReason: 'MALFORMED_FUNCTION_CALL' })]),
    failure: 'malformed',
  },
  { name: 'usage alone', stream: sse([{ usageMetadata: SMALL, ...TAIL }]), failure: 'truncated' },
  { name: 'a page', stream: '<html>\n<body>oops</body>\n\n</html>\n', failure: 'malformed' },
  { name: 'nothing', stream: '', failure: 'malformed' },
];
