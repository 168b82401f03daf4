import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { decodeMessages } from './decode-messages';
import { decodeResponseFormat } from './decode-response-format';
import { decodeToolChoice, decodeTools } from './decode-tools';
import { checkDepth, invalid, kindOf, readBoolean, readNumber, readObject, readString } from './read-field';

const MAX_OUTPUT_TOKENS = 1_000_000_000;
const MAX_CHOICES = 128;
const MAX_STOPS = 1000;
const COUNT = { min: 0, max: Number.MAX_SAFE_INTEGER, integer: true } as const;
const OUTPUT_LIMIT = { min: 1, max: MAX_OUTPUT_TOKENS, integer: true } as const;
const PENALTY = { min: -2, max: 2 } as const;

/** Fields with a place in `ChatRequest`; all others are kept in `extra`. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'n',
  'frequency_penalty',
  'presence_penalty',
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'reasoning_effort',
  'thinking',
  'service_tier',
  'user',
  'metadata',
]);

/**
 * A Chat Completions body → our request. Checks every field it knows and names the one at fault; keeps the others.
 * Source: https://platform.openai.com/docs/api-reference/chat/create
 */
export function decodeRequest(body: JsonObject): ChatRequest {
  checkDepth(body);
  const extra: JsonObject = {};
  for (const name in body) {
    const value = body[name];
    if (!KNOWN_FIELDS.has(name) && value !== undefined && value !== null) extra[name] = value;
  }
  const request: Mutable = {
    model: decodeModel(body.model),
    messages: decodeMessages(body.messages, extra),
    stream: readBoolean(body, 'stream') ?? false,
    extra,
    wire: { format: 'openai-chat', body },
  };
  decodeSampling(body, request);
  decodeToolFields(body, request, extra);
  const responseFormat = decodeResponseFormat(body, extra);
  if (responseFormat !== undefined) request.responseFormat = responseFormat;
  const limit = decodeOutputLimit(body);
  if (limit !== undefined) request.maxOutputTokens = limit;
  if (extra.stream_options !== undefined) readObject(extra, 'stream_options');
  return request;
}

type Mutable = { -readonly [K in keyof ChatRequest]: ChatRequest[K] };

function decodeModel(value: JsonValue | undefined): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid('model', `"model" must be the name of a model, but is ${value === '' ? 'empty' : kindOf(value)}.`);
}

function decodeSampling(body: JsonObject, request: Mutable): void {
  const set = <K extends keyof Mutable>(name: K, value: Mutable[K] | undefined) => {
    if (value !== undefined) request[name] = value;
  };
  set('temperature', readNumber(body, 'temperature', { min: 0, max: 2 }));
  set('topP', readNumber(body, 'top_p', { min: 0, max: 1 }));
  set('topK', readNumber(body, 'top_k', { min: -1, max: MAX_OUTPUT_TOKENS, integer: true }));
  set('n', readNumber(body, 'n', { min: 1, max: MAX_CHOICES, integer: true }));
  set('seed', readNumber(body, 'seed', { ...COUNT, min: Number.MIN_SAFE_INTEGER }));
  set('frequencyPenalty', readNumber(body, 'frequency_penalty', PENALTY));
  set('presencePenalty', readNumber(body, 'presence_penalty', PENALTY));
  set('logprobs', readBoolean(body, 'logprobs'));
  set('topLogprobs', readNumber(body, 'top_logprobs', { ...COUNT, max: 100 }));
  set('logitBias', readObject(body, 'logit_bias'));
  set('reasoningEffort', readString(body, 'reasoning_effort'));
  set('thinking', readObject(body, 'thinking'));
  set('serviceTier', readString(body, 'service_tier'));
  set('user', readString(body, 'user'));
  set('metadata', readObject(body, 'metadata'));
  set('stop', decodeStop(body.stop));
}

/** Both names mean the same limit; two different values would let an upstream pick the one that was not held for. */
function decodeOutputLimit(body: JsonObject): number | undefined {
  const older = readNumber(body, 'max_tokens', OUTPUT_LIMIT);
  const newer = readNumber(body, 'max_completion_tokens', OUTPUT_LIMIT);
  if (older !== undefined && newer !== undefined && older !== newer) {
    throw invalid('max_tokens', '"max_tokens" and "max_completion_tokens" differ. Send only one of them.');
  }
  return newer ?? older;
}

function decodeStop(value: JsonValue | undefined): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return [value];
  const texts = Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  if (Array.isArray(value) && texts.length === value.length && texts.length <= MAX_STOPS) return texts;
  throw invalid('stop', `"stop" must be a string or an array of strings, but is ${kindOf(value)} of something else.`);
}

function decodeToolFields(body: JsonObject, request: Mutable, extra: JsonObject): void {
  if (body.tools !== undefined && body.tools !== null) request.tools = decodeTools(body.tools, extra);
  const choice = decodeToolChoice(body.tool_choice);
  if (choice !== undefined) request.toolChoice = choice;
  const parallel = readBoolean(body, 'parallel_tool_calls');
  if (parallel !== undefined) request.parallelToolCalls = parallel;
}
