// What a vendor says beside its texts (names of fields, tiers, times, places, signatures) is judged as its texts are.
import { afterEach, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { GuardrailRule } from '@llm0/core/guardrails/policy';
import { anthropic } from '@llm0/providers/anthropic/index';
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

const KEY = 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
const EMAIL = 'bob.smith@corp-example.com';
const CARD = 4111111111111111;
const SIGNATURE = Buffer.from(Array.from({ length: 90 }, (_, index) => (index * 7919) % 256)).toString('base64');

let pipeline: Pipeline;
afterEach(() => pipeline.close());

type Asked = readonly [dialect: Dialect, body: JsonObject];
const MESSAGES = [{ role: 'user', content: 'Hi' }];
const CHAT: Asked = [openaiChat, { messages: MESSAGES }];
const CLAUDE: Asked = [anthropicMessages, { messages: MESSAGES, max_tokens: 100 }];
const COMPLETIONS: Asked = [openaiCompletions, { prompt: 'Hi' }];
const RESPONSES: Asked = [openaiResponses, { input: 'Hi' }];

interface Answer {
  readonly provider: Provider;
  /** Events of a stream, or the whole answer alone. */
  readonly says: readonly JsonObject[];
}

async function ask([dialect, body]: Asked, { provider, says }: Answer, action: GuardrailRule['action']) {
  const rules: GuardrailRule[] = (['pii', 'secrets'] as const).map((type) => ({
    ...{ name: type, on: 'both', check: { type }, action, onError: 'block' },
  }));
  pipeline = await openPipeline({ policy: { mode: 'enforce', rules, pseudonymScope: 'request', version: 1 } });
  const connection = { baseUrl: 'http://upstream.test/v1', apiKey: 'k' };
  Object.assign(pipeline.services, { connect: () => ({ provider, connection }) });
  const stream = says.length > 1;
  const data = says.map((one) => {
    const name = typeof one.type === 'string' ? `event: ${one.type}\n` : '';
    return `${name}data: ${JSON.stringify(one)}\n\n`;
  });
  pipeline.world.scripts = [
    () =>
      stream
        ? new Response(data.join(''), { headers: { 'content-type': 'text/event-stream' } })
        : Response.json(says[0]),
  ];
  const request = new Request('http://gateway.test/', {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({ model: MODEL, ...(stream ? { stream } : {}), ...body }),
  });
  const response = await handleChat(pipeline.services, dialect, request);
  const text = await response.text();
  const rows = await pipeline.rows();
  return { text, marks: rows.flatMap(({ guardrails }) => guardrails ?? []), error: rows[0]?.errorCode };
}

function chatStream(place: 'chunk' | 'choice' | 'delta', fields: JsonObject): Answer {
  const at = (wanted: typeof place) => (wanted === place ? fields : {});
  const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: MODEL, ...at('chunk') };
  const choiceOf = (delta: JsonObject, finish_reason: string | null): JsonObject => ({
    ...{ index: 0, delta, finish_reason, ...at('choice') },
  });
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const says = [
    { ...head, choices: [choiceOf({ role: 'assistant', content: 'hi', ...at('delta') }, null)] },
    { ...head, choices: [choiceOf({}, 'stop')] },
    { ...head, choices: [], usage },
  ];
  return { provider: openai, says };
}

function claudeStream({
  message = {},
  usage = {},
  start = {},
  deltas = [],
}: Record<string, JsonObject | JsonObject[]>) {
  const counted = { input_tokens: 1, output_tokens: 2, ...usage };
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, content: [], stop_reason: null };
  const says: JsonObject[] = [
    { type: 'message_start', message: { ...head, stop_sequence: null, usage: counted, ...message } },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '', ...start },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'so' } },
    ...[deltas].flat().map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'hi' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ];
  return { provider: anthropic, says };
}

const geminiStream = (name: string): Answer => {
  const more = { groundingMetadata: { [name]: 'v', deep: { [name]: 'w' } }, citationMetadata: { [name]: 'ghp_' } };
  const content = { role: 'model', parts: [{ text: 'hi' }] };
  const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
  const says: JsonObject[] = [
    { candidates: [{ content, index: 0 }], modelVersion: MODEL },
    { candidates: [{ content, finishReason: 'STOP', index: 0, ...more }], usageMetadata, modelVersion: MODEL },
  ];
  return { provider: gemini, says };
};

function responsesStream(response: JsonObject): Answer {
  const part = { type: 'output_text', text: 'hi', annotations: [] };
  const message = { id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [part] };
  const base = { id: 'resp_1', object: 'response', created_at: 1, model: MODEL, status: 'in_progress', output: [] };
  const begun = { ...base, ...response };
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
  const says: JsonObject[] = [
    { type: 'response.created', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
    { type: 'response.output_text.delta', ...place, delta: 'hi' },
    { type: 'response.output_item.done', output_index: 0, item: message },
    { type: 'response.completed', response: { ...begun, status: 'completed', output: [message], usage } },
  ];
  return { provider: openai, says: says.map((one, sequence_number) => ({ ...one, sequence_number })) };
}

const whole = ({ says }: Answer, delta: JsonObject = {}): Answer => {
  const [{ choices: _choices, ...head } = {}] = says;
  const choice = { index: 0, message: { role: 'assistant', content: 'hi', ...delta }, finish_reason: 'stop' };
  return { provider: openai, says: [{ ...head, object: 'chat.completion', choices: [choice] }] };
};

const wholeClaude = (fields: JsonObject): Answer => {
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, stop_reason: 'end_turn' };
  return { provider: anthropic, says: [{ ...head, content: [{ type: 'text', text: 'hi' }], ...fields }] };
};

const KEYED = claudeStream({ message: { [KEY]: 'x' } });
const TIERED = { service_tier: KEY };
const SAID: readonly (readonly [string, Asked, Answer])[] = [
  ['a name in a delta', CHAT, chatStream('delta', { [KEY]: 'x' })],
  ['a name on a choice', CHAT, chatStream('choice', { [KEY]: 'x' })],
  ['a name on a chunk', CHAT, chatStream('chunk', { [KEY]: 'x' })],
  ['names in a field', CHAT, chatStream('delta', { zz: { [EMAIL]: 'v', [KEY]: 'ghp_' } })],
  ['a name on a message, over chat', CHAT, KEYED],
  ['a name on a message, over Responses', RESPONSES, KEYED],
  ['a name on a message', CLAUDE, KEYED],
  ['names of metadata', CHAT, geminiStream(KEY)],
  ['a tier', CLAUDE, claudeStream({ usage: TIERED })],
  ['a whole message’s tier', CLAUDE, wholeClaude({ usage: { input_tokens: 1, output_tokens: 2, ...TIERED } })],
  ['another vendor’s tier', CLAUDE, chatStream('chunk', TIERED)],
  ['a whole answer’s tier', CLAUDE, whole(chatStream('chunk', TIERED))],
];

describe.each(SAID)('%s', (_name, asked, answer) => {
  test.each(['redact', 'block', 'pseudonymise'] as const)('%s', async (action) => {
    const { text, marks, error } = await ask(asked, answer, action);
    expect([text.includes(KEY), text.includes(EMAIL)]).toEqual([false, false]);
    expect(marks.length).toBeGreaterThan(0);
    expect(error).toBe(action === 'block' ? 'guardrail_blocked' : undefined);
  });
});

const TIMED = { created: CARD };
const PLACED = { index: CARD };
const NUMBERS: readonly (readonly [string, Asked, Answer])[] = [
  ['a time', CHAT, chatStream('chunk', TIMED)],
  ['a time of continued text', COMPLETIONS, chatStream('chunk', TIMED)],
  ['a whole answer’s time', COMPLETIONS, whole(chatStream('chunk', TIMED))],
  ['a time over Responses', RESPONSES, responsesStream({ created_at: CARD })],
  ['a place', CHAT, chatStream('choice', PLACED)],
  ['a place of continued text', COMPLETIONS, chatStream('choice', PLACED)],
];

describe.each(NUMBERS)('a number as %s', (_name, asked, answer) => {
  test.each(['redact', 'block'] as const)('%s', async (action) => {
    const { text } = await ask(asked, answer, action);
    expect(text).not.toContain(String(CARD));
  });
});

test.each([CHAT, CLAUDE])('a text ahead of a signature is no part of it: %#', async (dialect, body) => {
  const answer = claudeStream({ start: { signature: KEY }, deltas: { type: 'signature_delta', signature: SIGNATURE } });
  const { text, error } = await ask([dialect, body], answer, 'redact');
  expect([text.includes(KEY), text.includes(SIGNATURE), error]).toEqual([false, true, undefined]);
});
