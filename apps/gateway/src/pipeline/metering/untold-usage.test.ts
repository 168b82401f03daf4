import { afterAll, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { Project } from '@llm0/core/keys/api-key';
import { anthropic } from '@llm0/providers/anthropic/index';
import { bedrock } from '@llm0/providers/bedrock/index';
import { gemini } from '@llm0/providers/gemini/index';
import { openai } from '@llm0/providers/openai/index';
import type { Provider } from '@llm0/providers/provider';
import { anthropicMessages } from '../../dialects/anthropic-messages/index';
import type { Dialect } from '../../dialects/dialect';
import { openaiChat } from '../../dialects/openai-chat/index';
import { openaiCompletions } from '../../dialects/openai-completions/index';
import { openaiResponses } from '../../dialects/openai-responses/index';
import { handleChat } from '../chat/handle-chat';
import { MODEL, openPipeline, type Pipeline, SECRET } from '../open-pipeline.fixture';
import { type Envelopes, providerEntrance } from '../passthrough/entrances';
import { handlePassthrough } from '../passthrough/handle-passthrough';

/** About 250 tokens. */
const WORDS = Array.from({ length: 200 }, (_, i) => `word${i}`).join(' ');
const LIMIT = 500;
const prompt = 'p'.repeat(400);
const messages = [{ role: 'user', content: prompt }];

const open: Record<'usual' | 'strict', Pipeline> = {
  usual: await openWith({}),
  strict: await openWith({ strictCaps: true }),
};
afterAll(async () => {
  for (const pipeline of Object.values(open)) await pipeline.close();
});

interface Way {
  readonly provider: Provider;
  /** undefined: passed through. */
  readonly dialect?: Dialect;
  readonly path?: string;
  readonly request: JsonObject;
  /** What the vendor answers: a whole answer, or the events of a stream. */
  readonly answer: (usage: JsonObject | undefined) => JsonObject | readonly JsonObject[];
}

const finish = { index: 0, finish_reason: 'stop' };
const chatChunk = (delta: JsonObject, more: JsonObject = {}) => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: MODEL },
  choices: [{ index: 0, delta, finish_reason: null }],
  ...more,
});
const responsesOutput = [
  { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: WORDS, annotations: [] }] },
];
const response = (more: JsonObject): JsonObject => ({
  id: 'r',
  object: 'response',
  created_at: 1,
  model: MODEL,
  output: [],
  ...more,
});
const messageEvents = (start: JsonObject, usage: JsonObject | undefined): JsonObject[] => [
  {
    type: 'message_start',
    message: { id: 'm', type: 'message', role: 'assistant', model: MODEL, content: [], usage: start },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: WORDS } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...(usage && { usage }) },
  { type: 'message_stop' },
];
const candidates = [{ index: 0, content: { role: 'model', parts: [{ text: WORDS }] }, finishReason: 'STOP' }];

const chat = { model: MODEL, messages, max_tokens: LIMIT };
const native = { path: '/v1/chat/completions', request: { ...chat, stream_options: { include_usage: true } } };
const chatEvents = (usage: JsonObject | undefined) => [
  chatChunk({ role: 'assistant', content: WORDS }),
  chatChunk({}, { choices: [{ ...finish, delta: {} }] }),
  chatChunk({}, { choices: [], usage: usage ?? null }),
];
const chatAnswer = (usage: JsonObject | undefined) => ({
  ...{ id: 'c', object: 'chat.completion', created: 1, model: MODEL },
  choices: [{ ...finish, message: { role: 'assistant', content: WORDS } }],
  ...(usage && { usage }),
});
const messagesAnswer = (usage: JsonObject | undefined) => ({
  ...{ id: 'm', type: 'message', role: 'assistant', model: MODEL, stop_reason: 'end_turn' },
  content: [{ type: 'text', text: WORDS }],
  ...(usage && { usage }),
});
const geminiAnswer = (usage: JsonObject | undefined) => ({ candidates, ...(usage && { usageMetadata: usage }) });

const WAYS: Readonly<Record<string, Way>> = {
  'chat, whole': { provider: openai, dialect: openaiChat, request: chat, answer: chatAnswer },
  'chat, streamed': { provider: openai, dialect: openaiChat, request: { ...chat, stream: true }, answer: chatEvents },
  'completions, whole': {
    ...{ provider: openai, dialect: openaiCompletions },
    request: { model: MODEL, prompt, max_tokens: LIMIT },
    answer: chatAnswer,
  },
  'responses, whole': {
    ...{ provider: openai, dialect: openaiResponses },
    request: { model: MODEL, input: prompt, max_output_tokens: LIMIT },
    answer: (usage) => response({ status: 'completed', output: responsesOutput, ...(usage && { usage }) }),
  },
  'responses, streamed': {
    ...{ provider: openai, dialect: openaiResponses },
    request: { model: MODEL, input: prompt, max_output_tokens: LIMIT, stream: true },
    answer: (usage): readonly JsonObject[] => [
      { type: 'response.created', response: response({ status: 'in_progress' }) },
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'm', delta: WORDS },
      {
        type: 'response.completed',
        response: response({ status: 'completed', output: responsesOutput, ...(usage && { usage }) }),
      },
    ],
  },
  'passed through: responses, streamed': {
    ...{ provider: openai, path: '/v1/responses' },
    request: { model: MODEL, input: prompt, max_output_tokens: LIMIT, stream: true },
    answer: (usage): readonly JsonObject[] => [
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'm', delta: WORDS },
      {
        type: 'response.completed',
        response: response({ status: 'completed', output: responsesOutput, ...(usage && { usage }) }),
      },
    ],
  },
  'messages, whole': { provider: anthropic, dialect: anthropicMessages, request: chat, answer: messagesAnswer },
  'messages, streamed': {
    ...{ provider: anthropic, dialect: anthropicMessages, request: { ...chat, stream: true } },
    answer: (usage) => messageEvents({}, usage),
  },
  'gemini, whole': { provider: gemini, dialect: openaiChat, request: chat, answer: geminiAnswer },
  'gemini, streamed': {
    ...{ provider: gemini, dialect: openaiChat, request: { ...chat, stream: true } },
    answer: (usage) => [geminiAnswer(usage)],
  },
  'converse, whole': {
    ...{ provider: bedrock, dialect: openaiChat, request: chat },
    answer: (usage) => ({
      output: { message: { role: 'assistant', content: [{ text: WORDS }] } },
      ...{ stopReason: 'end_turn', ...(usage && { usage }) },
    }),
  },
  'passed through: chat, whole': { provider: openai, ...native, answer: chatAnswer },
  'passed through: chat, streamed': {
    ...{ provider: openai, ...native, request: { ...native.request, stream: true } },
    answer: chatEvents,
  },
  'passed through: responses, whole': {
    ...{ provider: openai, path: '/v1/responses', request: { model: MODEL, input: prompt, max_output_tokens: LIMIT } },
    answer: (usage) => response({ status: 'completed', output: responsesOutput, ...(usage && { usage }) }),
  },
  'passed through: messages, whole': {
    provider: anthropic,
    path: '/v1/messages',
    request: chat,
    answer: messagesAnswer,
  },
  'passed through: messages, streamed': {
    ...{ provider: anthropic, path: '/v1/messages', request: { ...chat, stream: true } },
    answer: (usage) => messageEvents({}, usage),
  },
  'passed through: converse, whole': {
    ...{ provider: bedrock, path: `/model/${MODEL}/converse` },
    request: { messages: [{ role: 'user', content: [{ text: prompt }] }], inferenceConfig: { maxTokens: LIMIT } },
    answer: (usage) => ({
      output: { message: { role: 'assistant', content: [{ text: WORDS }] } },
      ...{ stopReason: 'end_turn', ...(usage && { usage }) },
    }),
  },
  'passed through: gemini, whole': {
    ...{ provider: gemini, path: `/v1beta/models/${MODEL}:generateContent` },
    request: { contents: [{ parts: [{ text: prompt }] }], generationConfig: { maxOutputTokens: LIMIT } },
    answer: geminiAnswer,
  },
};

function bytesOf(answer: JsonObject | readonly JsonObject[]): Response {
  if (!Array.isArray(answer)) return Response.json(answer);
  const text = answer.map((event: JsonObject) => {
    const name = typeof event.type === 'string' ? `event: ${event.type}\n` : '';
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  const end = answer.some(({ choices }: JsonObject) => choices !== undefined) ? 'data: [DONE]\n\n' : '';
  return new Response(text.join('') + end, { headers: { 'content-type': 'text/event-stream' } });
}

function openWith(project: Partial<Project>): Promise<Pipeline> {
  return openPipeline({ project: { ...project, passthrough: ['openai'], cacheEnabled: false } });
}

/** What is booked for one answer of this way. */
async function book(way: Way, answer: JsonObject | readonly JsonObject[], caps: keyof typeof open = 'usual') {
  const pipeline = open[caps];
  // Its models are those that have a price here.
  const provider = { ...way.provider, name: 'openai' };
  Object.assign(pipeline.services, {
    fetch: () => Promise.resolve(bytesOf(answer)),
    connect: () => ({ provider, connection: { baseUrl: 'http://upstream.test/v1', apiKey: 'k' } }),
  });
  const request = new Request(`http://gateway.test/passthrough/openai${way.path}`, {
    method: 'POST',
    headers: { 'x-api-key': SECRET, 'content-type': 'application/json' },
    body: JSON.stringify(way.request),
  });
  const entrance = providerEntrance({ [way.provider.wireFormat]: openaiChat } as unknown as Envelopes);
  const answered = await (way.dialect === undefined
    ? handlePassthrough(pipeline.services, entrance, request)
    : handleChat(pipeline.services, way.dialect, request));
  const text = await answered.text();
  expect([answered.status, text.slice(0, 500)]).toEqual([200, expect.any(String)]);
  const [row] = await pipeline.rows();
  if (row === undefined) throw new Error('no row');
  return { row, text };
}

const atLeast = (least: number, most: number) => (count: number) => count >= least && count <= most;
const GUESSED_IN = atLeast(90, 250);
const GUESSED_OUT = atLeast(200, 500);
const is = (count: number) => (given: number) => given === count;

type Case = readonly [usage: JsonObject, isIn: (count: number) => boolean, isOut: (count: number) => boolean];
/** Of which side nobody told; by names that are not the format's own, too. */
const UNTOLD: Readonly<Record<'input' | 'output' | 'both', readonly Case[]>> = {
  both: [
    [{ total_tokens: 1200 }, GUESSED_IN, atLeast(950, 1110)],
    [{ totalTokenCount: 12 }, GUESSED_IN, GUESSED_OUT],
  ],
  output: [
    [{ prompt_tokens: 1000 }, is(1000), GUESSED_OUT],
    [{ input_tokens: 1000, output_tokens: null }, is(1000), GUESSED_OUT],
    [{ promptTokenCount: 1000, candidatesTokenCount: 0 }, is(1000), GUESSED_OUT],
    [{ prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000 }, is(1000), GUESSED_OUT],
    [{ prompt_tokens: 1000, total_tokens: 1900 }, is(1000), is(900)],
  ],
  input: [
    [{ completion_tokens: 70 }, GUESSED_IN, is(70)],
    [{ input_tokens: 0, output_tokens: 70 }, GUESSED_IN, is(70)],
    [{ eval_count: 70, prompt_eval_count: 0 }, GUESSED_IN, is(70)],
    [{ completionTokens: 70, totalTokens: 1070 }, is(1000), is(70)],
  ],
};

describe.each(Object.entries(WAYS))('%s', (_name, way) => {
  test('a side that nobody told is guessed, and marked', async () => {
    for (const [usage, isIn, isOut] of Object.values(UNTOLD).flat()) {
      const { row } = await book(way, way.answer(usage));
      expect([usage, isIn(row.tokensIn), isOut(row.tokensOut), row.costEstimated]).toEqual([usage, true, true, true]);
      expect(row.costNanoUsd).toBe(1000 * row.tokensIn + 2000 * row.tokensOut);
    }
  });

  test('under strict caps it is booked with no less than was held for it', async () => {
    for (const [usage] of UNTOLD.output) {
      const { row } = await book(way, way.answer(usage), 'strict');
      expect([usage, row.costNanoUsd >= 1000 * 1000 + 2000 * LIMIT, row.costEstimated]).toEqual([usage, true, true]);
    }
    for (const [usage] of UNTOLD.input) {
      const { row } = await book(way, way.answer(usage), 'strict');
      expect([usage, row.costNanoUsd >= 1000 * prompt.length + 2000 * 70, row.costEstimated]).toEqual([
        usage,
        true,
        true,
      ]);
    }
    const { row } = await book(way, way.answer({ total_tokens: 1200 }), 'strict');
    expect(row.costNanoUsd).toBeGreaterThanOrEqual(1000 * prompt.length + 2000 * LIMIT);
  });

  test('reported usage is booked unchanged, under any name', async () => {
    const told: readonly JsonObject[] = [
      { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 },
      { input_tokens: 100, output_tokens: 7 },
      { promptTokenCount: 100, candidatesTokenCount: 7, totalTokenCount: 107 },
    ];
    for (const usage of told) {
      const { row } = await book(way, way.answer(usage), 'strict');
      expect(row).toMatchObject({ tokensIn: 100, tokensOut: 7, costNanoUsd: 114_000, costEstimated: false });
    }
  });

  test('a sum that is more than its sides was billed too', async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 7, total_tokens: 300 };
    expect((await book(way, way.answer(usage))).row).toMatchObject({
      tokensIn: 100,
      tokensOut: 200,
      costEstimated: true,
    });
  });
});

/** About 1,500 tokens of a picture or of speech. */
const MEDIA = 'iVBORw0KGgo'.repeat(136_000);
const PICTURE = { type: 'image_url', image_url: { url: `data:image/png;base64,${MEDIA}` } };
const LINKED = { type: 'image_url', image_url: { url: 'https://vendor.test/picture.png' } };
const SPEECH = { id: 'a', data: MEDIA, transcript: 'word '.repeat(40), expires_at: 1 };
const CALL = {
  index: 0,
  id: 'c',
  type: 'function',
  function: { name: 'look', arguments: JSON.stringify({ q: WORDS }) },
};
const NONE = { prompt_tokens: 100, completion_tokens: 0 };
const message = (more: JsonObject) => ({
  ...chatAnswer(NONE),
  choices: [{ ...finish, message: { role: 'assistant', content: null, ...more } }],
});
const delta = (...more: JsonObject[]) => [
  ...more.map((piece) => chatChunk(piece)),
  chatChunk({}, { choices: [{ ...finish, delta: {} }] }),
  chatChunk({}, { choices: [], usage: NONE }),
];
const parts = (...given: JsonObject[]) => ({
  candidates: [{ index: 0, content: { role: 'model', parts: given }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 0 },
});
const blocks = (...content: JsonObject[]) => ({ ...messagesAnswer({ input_tokens: 100, output_tokens: 0 }), content });
const items = (...output: JsonObject[]) =>
  response({ status: 'completed', output, usage: { input_tokens: 100, output_tokens: 0 } });
const itemEvents = (item: JsonObject): readonly JsonObject[] => [
  { type: 'response.created', response: response({ status: 'in_progress' }) },
  { type: 'response.output_item.added', output_index: 0, item: { id: 'i', type: item.type ?? '' } },
  { type: 'response.output_item.done', output_index: 0, item },
  { type: 'response.completed', response: items(item) },
];
const converse = (...content: JsonObject[]) => ({
  output: { message: { role: 'assistant', content } },
  ...{ stopReason: 'end_turn', usage: { inputTokens: 100, outputTokens: 0 } },
});
const both = (name: string) => [name, `passed through: ${name}`] as const;
const [WHOLE_CHAT, STREAMED_CHAT] = [both('chat, whole'), both('chat, streamed')];
const [WHOLE_MESSAGES, STREAMED_MESSAGES] = [both('messages, whole'), both('messages, streamed')];
const [WHOLE_RESPONSES, STREAMED_RESPONSES] = [both('responses, whole'), both('responses, streamed')];
const [WHOLE_CONVERSE, WHOLE_GEMINI] = [both('converse, whole'), both('gemini, whole')];
/** Base64 of about 1,000 characters. */
const SEALED = 'gAAAAABo-_'.repeat(130);
const blockEvents = (content_block: JsonObject, ...deltas: JsonObject[]) => [
  ...messageEvents({ input_tokens: 100 }, undefined).slice(0, 1),
  { type: 'content_block_start', index: 0, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 0 } },
  { type: 'message_stop' },
];
const LEGACY_CALL = { name: 'look', arguments: JSON.stringify({ q: WORDS }) };
const ITEMS: readonly (JsonObject & { type: string })[] = [
  { id: 'i', type: 'shell_call', call_id: 'c', action: { commands: [WORDS] } },
  { id: 'i', type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: WORDS.split(' ') } },
  { id: 'i', type: 'computer_call', call_id: 'c', action: { type: 'type', text: WORDS } },
  { id: 'i', type: 'apply_patch_call', call_id: 'c', operation: { type: 'update_file', path: 'a', diff: WORDS } },
  { id: 'i', type: 'code_interpreter_call', container_id: 'k', code: WORDS, outputs: null },
  { id: 'i', type: 'mcp_call', server_label: 's', name: 'look', arguments: JSON.stringify({ q: WORDS }) },
  { id: 'i', type: 'reasoning', summary: [], encrypted_content: 'gAAAAABo-_'.repeat(150) },
  { id: 'i', type: 'message', role: 'assistant', content: [{ type: 'output_poem', verses: [WORDS] }] },
  { id: 'i', type: 'call_of_next_year', body: { of: { any: [WORDS] } } },
];

describe('none of output beside', () => {
  const [whole, streamed] = [message, delta];
  test.each<[string, keyof typeof WAYS, JsonObject | readonly JsonObject[], number]>([
    ['a picture', 'chat, whole', whole({ images: [PICTURE] }), 1000],
    ['a picture', 'chat, streamed', streamed({ images: [PICTURE] }), 1000],
    ['a linked picture', 'chat, streamed', streamed({ images: [LINKED] }), 1000],
    ['a picture', 'passed through: chat, whole', whole({ images: [PICTURE] }), 1000],
    ['speech', 'chat, whole', whole({ audio: SPEECH }), 1000],
    ['speech', 'chat, streamed', streamed({ audio: SPEECH }), 1000],
    ['speech', 'passed through: chat, streamed', streamed({ audio: SPEECH }), 1000],
    ['calls', 'chat, whole', whole({ tool_calls: [CALL] }), 200],
    ['calls', 'chat, streamed', streamed({ tool_calls: [CALL] }), 200],
    ['calls', 'passed through: chat, whole', whole({ tool_calls: [CALL] }), 200],
    ['a legacy call', 'chat, whole', whole({ function_call: LEGACY_CALL }), 200],
    [
      'a legacy call',
      'chat, streamed',
      streamed(
        { function_call: { name: 'look', arguments: '{"q":' } },
        { function_call: { arguments: `"${WORDS}"}` } },
      ),
      200,
    ],
    [
      'a legacy call of no text',
      'chat, whole',
      whole({ function_call: { name: 'look', arguments: { q: WORDS } } }),
      200,
    ],
    ['a legacy call', 'passed through: chat, whole', whole({ function_call: LEGACY_CALL }), 200],
    ['a legacy call', 'passed through: chat, streamed', streamed({ function_call: LEGACY_CALL }), 200],
    ['a result', 'chat, whole', whole({ result: WORDS }), 200],
    [
      'thoughts in details',
      'chat, whole',
      whole({ reasoning_details: [{ type: 'reasoning.text', text: WORDS }] }),
      200,
    ],
    [
      'a summary',
      'chat, streamed',
      streamed({ reasoning_details: [{ type: 'reasoning.summary', summary: WORDS }] }),
      200,
    ],
    ['parts of another kind', 'chat, whole', whole({ content: [{ type: 'poem', verses: [WORDS] }] }), 200],
    [
      'sealed thoughts',
      'chat, whole',
      whole({ reasoning_details: [{ type: 'reasoning.encrypted', data: SEALED }] }),
      200,
    ],
    ['sealed thoughts', 'messages, whole', blocks({ type: 'redacted_thinking', data: SEALED }), 200],
    ['sealed thoughts', 'messages, whole', blocks({ type: 'thinking', thinking: '', signature: SEALED }), 200],
    [
      'a whole block',
      'passed through: messages, streamed',
      blockEvents({ type: 'redacted_thinking', data: SEALED }),
      200,
    ],
    [
      'an unknown piece',
      'messages, streamed',
      blockEvents({ type: 'compaction' }, { type: 'compaction_delta', content: WORDS }),
      200,
    ],
    ['other thoughts', 'chat, whole', whole({ reasoning_details: [{ type: 'other', other: WORDS }] }), 200],
    ['an unknown field', 'chat, whole', whole({ tool_plan: [{ step: WORDS }] }), 200],
    ['an unknown field', 'chat, streamed', streamed({ tool_plan: [{ step: WORDS }] }), 200],
    ['thoughts', 'chat, whole', whole({ reasoning_content: WORDS }), 200],
    ['thoughts', 'chat, streamed', streamed({ reasoning: WORDS }), 200],
    ['thoughts', 'passed through: chat, streamed', streamed({ reasoning: WORDS }), 200],
    ['a picture', 'gemini, whole', parts({ inlineData: { mimeType: 'image/png', data: MEDIA } }), 1000],
    ['speech', 'gemini, streamed', [parts({ inlineData: { mimeType: 'audio/L16', data: MEDIA } })], 1000],
    ['a call', 'gemini, whole', parts({ functionCall: { name: 'look', args: { q: WORDS } } }), 200],
    ['thoughts', 'gemini, whole', parts({ text: WORDS, thought: true }), 200],
    ['a picture', 'passed through: gemini, whole', parts({ inlineData: { mimeType: 'image/png', data: MEDIA } }), 1000],
    ['a call', 'messages, whole', blocks({ type: 'tool_use', id: 't', name: 'look', input: { q: WORDS } }), 200],
    ['thoughts', 'messages, whole', blocks({ type: 'thinking', thinking: WORDS, signature: 's' }), 200],
    [
      'a picture',
      'responses, whole',
      items({ type: 'image_generation_call', id: 'i', status: 'completed', result: MEDIA }),
      1000,
    ],
    [
      'a call',
      'responses, whole',
      items({ type: 'function_call', id: 'f', call_id: 'c', name: 'look', arguments: JSON.stringify({ q: WORDS }) }),
      200,
    ],
    [
      'a picture',
      'passed through: responses, whole',
      items({ type: 'image_generation_call', id: 'i', status: 'completed', result: MEDIA }),
      1000,
    ],
  ])('%s is guessed, and marked: %s', async (_what, name, answer, least) => {
    const { row } = await book(WAYS[name] as Way, answer);
    expect([row.tokensIn, atLeast(least, 2500)(row.tokensOut), row.costEstimated]).toEqual([100, true, true]);
  });
});

/** About 250 tokens, sealed. */
const SEALED_WORDS = Buffer.from(WORDS).toString('base64');
const pieces = WORDS.match(/.{1,60}/g) ?? [];
const rich = { type: 'reasoning.text', text: WORDS };
const SAID_ONCE: readonly (readonly [string, readonly (keyof typeof WAYS)[], JsonObject | readonly JsonObject[]])[] = [
  ['sealed details', WHOLE_CHAT, message({ reasoning_details: [{ type: 'reasoning.encrypted', data: SEALED_WORDS }] })],
  ['a signature', WHOLE_MESSAGES, blocks({ type: 'thinking', thinking: '', signature: SEALED_WORDS })],
  ['a text and its signature', WHOLE_MESSAGES, blocks({ type: 'thinking', thinking: WORDS, signature: SEALED_WORDS })],
  [
    'a signature',
    STREAMED_MESSAGES,
    blockEvents({ type: 'thinking', thinking: '' }, { type: 'signature_delta', signature: SEALED_WORDS }),
  ],
  ['sealed thoughts', WHOLE_CONVERSE, converse({ reasoningContent: { redactedContent: SEALED_WORDS } })],
  [
    'a signature',
    WHOLE_CONVERSE,
    converse({ reasoningContent: { reasoningText: { text: '', signature: SEALED_WORDS } } }),
  ],
  ['thoughts and their details', WHOLE_CHAT, message({ reasoning: WORDS, reasoning_details: [rich] })],
  [
    'thoughts and their details',
    STREAMED_CHAT,
    delta(...pieces.map((text) => ({ reasoning: text, reasoning_details: [{ ...rich, text }] }))),
  ],
  ['thoughts under two names', WHOLE_CHAT, message({ reasoning: WORDS, reasoning_content: WORDS })],
  [
    'thoughts and their blocks',
    WHOLE_CHAT,
    message({ reasoning_content: WORDS, thinking_blocks: [{ type: 'thinking', thinking: WORDS, signature: 's' }] }),
  ],
];

describe.each(SAID_ONCE)('none of output beside %s', (_what, names, answer) => {
  test.each([...names])('is guessed once: %s', async (name) => {
    const { row } = await book(WAYS[name] as Way, answer);
    expect([row.tokensIn, row.costEstimated]).toEqual([100, true]);
    expect(row.tokensOut).toBeWithin(WORDS.length / 5, WORDS.length / 3);
  });
});

const link = { url: 'https://vendor.test', title: WORDS };
/** Items with results of the vendor's tools. */
const RESULTS: readonly (JsonObject & { type: string })[] = [
  { type: 'mcp_list_tools', server_label: 's', tools: [{ name: 'look', description: WORDS }] },
  { type: 'mcp_call', server_label: 's', name: 'look', arguments: '{}', output: WORDS },
  { type: 'code_interpreter_call', container_id: 'k', code: '1', outputs: [{ type: 'logs', logs: WORDS }] },
  { type: 'file_search_call', queries: ['q'], results: [{ file_id: 'f', text: WORDS }] },
  { type: 'web_search_call', action: { type: 'search', query: 'q', sources: [link] } },
  { type: 'shell_call_output', output: [{ stdout: WORDS }] },
  {
    ...{ type: 'message', role: 'assistant' },
    content: [{ type: 'output_text', text: 'a', annotations: [{ type: 'url_citation', ...link }] }],
  },
];
/** What the vendor and its tools add. */
const ADDED: readonly (readonly [string, readonly (keyof typeof WAYS)[], JsonObject | readonly JsonObject[]])[] = [
  ...RESULTS.flatMap((item) => [
    [item.type, WHOLE_RESPONSES, items({ id: 'i', ...item })] as const,
    [item.type, STREAMED_RESPONSES, itemEvents({ id: 'i', ...item })] as const,
  ]),
  ['sources', WHOLE_MESSAGES, blocks({ type: 'text', text: 'a', citations: [{ type: 'page', cited_text: WORDS }] })],
  [
    'results',
    WHOLE_MESSAGES,
    blocks(
      { type: 'server_tool_use', id: 't', name: 'web_search', input: { query: 'q' } },
      { type: 'web_search_tool_result', tool_use_id: 't', content: [{ type: 'web_search_result', ...link }] },
    ),
  ],
  ['results', WHOLE_GEMINI, parts({ text: 'a' }, { codeExecutionResult: { outcome: 'OUTCOME_OK', output: WORDS } })],
];

describe.each(ADDED)('of %s', (_what, names, answer) => {
  test.each([...names])('only the output of the model is guessed: %s', async (name) => {
    const { row } = await book(WAYS[name] as Way, answer);
    expect([row.tokensIn, row.tokensOut < 25]).toEqual([100, true]);
  });
});

const created = { type: 'response.created', response: response({ status: 'in_progress' }) };
const completed = (output: readonly JsonObject[], usage: JsonObject = { input_tokens: 100, output_tokens: 0 }) => ({
  type: 'response.completed',
  response: response({ status: 'completed', output: [...output], usage }),
});
const messageItem = { ...responsesOutput[0] } as JsonObject;
const callItem = {
  id: 'i',
  type: 'function_call',
  call_id: 'c',
  name: 'look',
  arguments: JSON.stringify({ q: WORDS }),
};
const added = (item: JsonObject) => ({ type: 'response.output_item.added', output_index: 0, item });
const done = (item: JsonObject) => ({ type: 'response.output_item.done', output_index: 0, item });
/** Without the pieces that the format's own vendor sends. */
const WHOLE_AT_ONCE: Readonly<Record<string, readonly JsonObject[]>> = {
  'text at its end': [
    ...[created, added({ ...messageItem, content: [] })],
    { type: 'response.output_text.done', output_index: 0, content_index: 0, text: WORDS },
    ...[done(messageItem), completed([messageItem])],
  ],
  'text at its end alone': [
    created,
    { type: 'response.output_text.done', output_index: 0, content_index: 0, text: WORDS },
    completed([messageItem]),
  ],
  'a call at its end': [created, added({ ...callItem, arguments: '' }), done(callItem), completed([callItem])],
  'a call at its beginning': [created, added(callItem), done(callItem), completed([callItem])],
  'a call, and a word of text': [
    ...[created, { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'a' }],
    ...[added(callItem), done(callItem), completed([callItem])],
  ],
  'text in the answer alone': [created, completed([messageItem])],
  'a call in the answer alone': [created, completed([callItem])],
  'text without parts': [created, completed([{ ...messageItem, content: WORDS }])],
  'pieces of another kind': [created, { type: 'response.poem.delta', output_index: 0, delta: WORDS }, completed([])],
  'pieces under another name': [created, { type: 'response.poem.delta', item_id: 'i', verse: WORDS }, completed([])],
  ...Object.fromEntries(
    [messageItem, callItem, { id: 'i', type: 'reasoning', summary: [{ type: 'summary_text', text: WORDS }] }]
      .concat([{ id: 'i', type: 'apply_patch_call', operation: { type: 'create_file', path: 'a', diff: WORDS } }])
      .map((item) => [`a whole ${item.type} that the answer leaves out`, [created, done(item), completed([])]]),
  ),
  ...Object.fromEntries(
    [
      { type: 'response.output_text.done', text: WORDS },
      { type: 'response.content_part.done', part: { type: 'output_text', text: WORDS } },
      { type: 'response.refusal.done', refusal: WORDS },
      { type: 'response.reasoning_summary_text.done', text: WORDS },
      { type: 'response.function_call_arguments.done', arguments: JSON.stringify({ q: WORDS }) },
      { type: 'response.mcp_call_arguments.done', arguments: JSON.stringify({ q: WORDS }) },
      { type: 'response.custom_tool_call_input.done', input: WORDS },
    ].map((event) => [`${event.type} alone`, [created, { ...event, item_id: 'i', output_index: 0 }, completed([])]]),
  ),
};

describe.each(Object.entries(WHOLE_AT_ONCE))('none of output beside %s', (_name, events) => {
  test.each(['responses, streamed', 'passed through: responses, streamed'])('is guessed: %s', async (name) => {
    const { row } = await book(WAYS[name] as Way, events);
    expect([row.tokensIn, GUESSED_OUT(row.tokensOut), row.costEstimated]).toEqual([100, true, true]);
  });
});

test('text in no part is given, and guessed', async () => {
  const { row, text } = await book(WAYS['responses, whole'] as Way, items({ ...messageItem, content: WORDS }));
  expect([row.tokensIn, GUESSED_OUT(row.tokensOut), row.costEstimated]).toEqual([100, true, true]);
  expect(text).toContain('word199');
});

test('a vendor that names its thoughts only did not tell the text', async () => {
  const gemini = { promptTokenCount: 100, thoughtsTokenCount: 50 };
  const chat = { prompt_tokens: 100, completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 50 } };
  for (const [name, usage] of [
    ['gemini, whole', gemini],
    ['gemini, whole', { ...gemini, thoughtsTokenCount: 120 }],
    ['chat, whole', chat],
    ['chat, streamed', chat],
  ] as const) {
    const way = WAYS[name] as Way;
    const { row } = await book(way, way.answer(usage));
    expect([name, row.tokensIn, GUESSED_OUT(row.tokensOut), row.costEstimated]).toEqual([name, 100, true, true]);
  }
});

test('a message without a block costs no output', async () => {
  const events = messageEvents({ input_tokens: 9, output_tokens: 0 }, { output_tokens: 0 });
  const empty = events.filter(({ type }) => !String(type).startsWith('content_block'));
  for (const name of ['messages, streamed', 'passed through: messages, streamed']) {
    const { row } = await book(WAYS[name] as Way, empty, 'strict');
    expect(row).toMatchObject({ tokensIn: 9, tokensOut: 0, costEstimated: false });
  }
});

describe.each(ITEMS.map((item) => [item.type, item] as const))('none of output beside %s', (_type, item) => {
  test.each<[string, JsonObject | readonly JsonObject[]]>([
    ['responses, whole', items(item)],
    ['responses, streamed', itemEvents(item)],
    ['passed through: responses, whole', items(item)],
    ['passed through: responses, streamed', itemEvents(item)],
  ])('is guessed, and held under strict caps: %s', async (name, answer) => {
    const { row } = await book(WAYS[name] as Way, answer);
    expect([row.tokensIn, GUESSED_OUT(row.tokensOut), row.costEstimated]).toEqual([100, true, true]);
    const strict = await book(WAYS[name] as Way, answer, 'strict');
    expect(strict.row.costNanoUsd).toBeGreaterThanOrEqual(1000 * 100 + 2000 * LIMIT);
  });
});

describe('a stream tells usage again', () => {
  const stream = WAYS['chat, streamed'] as Way;
  const native = WAYS['passed through: chat, streamed'] as Way;
  const told = (prompt_tokens: number, completion_tokens: number) =>
    chatChunk({}, { choices: [], usage: { prompt_tokens, completion_tokens } });

  test.each([stream, native])('the larger count a side is booked', async (way) => {
    for (const reports of [
      [told(100, 90), told(120, 7)],
      [told(120, 7), told(100, 90)],
      [told(120, 90), told(0, 0)],
    ]) {
      const { row } = await book(way, [...chatEvents(undefined), ...reports]);
      expect(row).toMatchObject({ tokensIn: 120, tokensOut: 90, costEstimated: false });
    }
  });

  test.each([stream, native])('estimates output after the last report', async (way) => {
    const { row } = await book(way, [
      chatChunk({ role: 'assistant', content: 'a' }),
      told(120, 1),
      ...chatEvents(undefined),
    ]);
    expect([row.tokensIn, GUESSED_OUT(row.tokensOut), row.costEstimated]).toEqual([120, true, true]);
  });

  test('estimates a legacy call after the last report', async () => {
    const chunks = [
      chatChunk({ role: 'assistant', content: 'a' }),
      told(100, 1),
      chatChunk({ function_call: LEGACY_CALL }),
      chatChunk({}, { choices: [{ ...finish, delta: {} }] }),
    ];
    const { row } = await book(stream, chunks);
    expect([row.tokensIn, GUESSED_OUT(row.tokensOut), row.costEstimated]).toEqual([100, true, true]);
  });

  test.each([WAYS['messages, streamed'] as Way, WAYS['passed through: messages, streamed'] as Way])(
    'the first token of a message is none of its end',
    async (way) => {
      const ends: readonly (JsonObject | undefined)[] = [undefined, { input_tokens: 1000 }, { output_tokens: 0 }];
      for (const usage of ends) {
        const { row } = await book(way, messageEvents({ input_tokens: 1000, output_tokens: 1 }, usage));
        expect([usage, row.tokensIn, GUESSED_OUT(row.tokensOut), row.costEstimated]).toEqual([usage, 1000, true, true]);
      }
      const { row } = await book(way, messageEvents({ input_tokens: 1000, output_tokens: 1 }, { output_tokens: 70 }));
      expect(row).toMatchObject({ tokensIn: 1000, tokensOut: 70, costEstimated: false });
    },
  );
});

test('an answer of nothing but sources costs no output', async () => {
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://vendor.test', title: WORDS } }];
  const answer = {
    ...chatAnswer({ prompt_tokens: 9, completion_tokens: 0 }),
    choices: [{ ...finish, message: { role: 'assistant', content: '', annotations } }],
  };
  for (const way of [WAYS['chat, whole'] as Way, WAYS['passed through: chat, whole'] as Way]) {
    expect((await book(way, answer, 'strict')).row).toMatchObject({
      tokensIn: 9,
      tokensOut: 0,
      costEstimated: false,
    });
  }
});

test.each<[string, JsonObject]>([
  ['as thoughts', { index: 0, text: '', reasoning: WORDS, finish_reason: 'stop' }],
  ['in the form of a chat', { ...finish, message: { role: 'assistant', content: WORDS } }],
])('passed through: completions %s are guessed', async (_name, choice) => {
  const answer = { id: 'c', object: 'text_completion', created: 1, model: MODEL, choices: [choice], usage: NONE };
  const request = { model: MODEL, prompt, max_tokens: LIMIT };
  const native: Way = { provider: openai, path: '/v1/completions', request, answer: () => answer };
  const { row } = await book(native, answer);
  expect([row.tokensIn, GUESSED_OUT(row.tokensOut), row.costEstimated]).toEqual([100, true, true]);
});

test.each(['chat, whole', 'responses, whole', 'messages, whole'])(
  '%s: callers are told what is booked',
  async (name) => {
    const way = WAYS[name] as Way;
    const { row, text } = await book(way, way.answer({ total_tokens: 1200 }));
    const { usage } = JSON.parse(text) as { usage: Record<string, number> };
    expect([usage.prompt_tokens ?? usage.input_tokens, usage.completion_tokens ?? usage.output_tokens]).toEqual([
      row.tokensIn,
      row.tokensOut,
    ]);
  },
);
