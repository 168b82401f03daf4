import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { textsOf } from '../decode-lists';
import {
  checkDepth,
  decodeModel,
  ELSEWHERE,
  type FieldReader,
  invalid,
  kindOf,
  type OpenRequest,
  readBoolean,
  readFields,
  readNumber,
  readObject,
  readString,
  set,
} from '../read-fields';
import { OPENAI_FIELDS, OUTPUT_LIMIT } from '../shared-fields';
import { decodeMessages } from './decode-messages';
import { decodeResponseFormat } from './decode-response-format';
import { decodeToolChoice, decodeTools } from './decode-tools';

const MAX_CHOICES = 128;
const MAX_STOPS = 1000;
const TOP_K = { min: -1, max: OUTPUT_LIMIT.max, integer: true } as const;
const CHOICES = { min: 1, max: MAX_CHOICES, integer: true } as const;
const SEED = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER, integer: true } as const;
const PENALTY = { min: -2, max: 2 } as const;

/** Fields with a place in `ChatRequest`; others go to `extra`. */
const FIELD_READERS: ReadonlyMap<string, FieldReader> = new Map<string, FieldReader>([
  ...OPENAI_FIELDS,
  ['messages', ELSEWHERE],
  ['top_k', (to, body) => set(to, 'topK', readNumber(body, 'top_k', TOP_K))],
  ['n', (to, body) => set(to, 'n', readNumber(body, 'n', CHOICES))],
  ['seed', (to, body) => set(to, 'seed', readNumber(body, 'seed', SEED))],
  ['frequency_penalty', (to, body) => set(to, 'frequencyPenalty', readNumber(body, 'frequency_penalty', PENALTY))],
  ['presence_penalty', (to, body) => set(to, 'presencePenalty', readNumber(body, 'presence_penalty', PENALTY))],
  ['logprobs', (to, body) => set(to, 'logprobs', readBoolean(body, 'logprobs'))],
  ['logit_bias', (to, body) => set(to, 'logitBias', readObject(body, 'logit_bias'))],
  ['reasoning_effort', (to, body) => set(to, 'reasoningEffort', readString(body, 'reasoning_effort'))],
  ['thinking', (to, body) => set(to, 'thinking', readObject(body, 'thinking'))],
  ['stop', (to, body) => set(to, 'stop', decodeStop(body.stop))],
  ['max_tokens', (to, body) => set(to, 'maxOutputTokens', decodeOutputLimit(body))],
  ['max_completion_tokens', (to, body) => set(to, 'maxOutputTokens', decodeOutputLimit(body))],
  ['tools', (to, body, extra) => set(to, 'tools', decodeTools(body.tools ?? null, extra))],
  ['tool_choice', (to, body) => set(to, 'toolChoice', decodeToolChoice(body.tool_choice))],
  ['response_format', (to, body, extra) => set(to, 'responseFormat', decodeResponseFormat(body, extra))],
]);

/**
 * Decodes a Chat Completions body. Validates every known field, names an invalid one and keeps the others. Source:
 * https://platform.openai.com/docs/api-reference/chat/create
 */
export function decodeRequest(body: JsonObject): ChatRequest {
  checkDepth(body);
  const extra: JsonObject = {};
  const request: OpenRequest = {
    model: decodeModel(body.model),
    messages: decodeMessages(body.messages, extra),
    stream: false,
    extra,
    wire: { format: 'openai-chat', body },
  };
  return readFields(request, body, FIELD_READERS, extra);
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
  const texts = textsOf(value, MAX_STOPS);
  if (texts !== undefined) return texts;
  throw invalid('stop', `"stop" must be a string or an array of strings, but is ${kindOf(value)} of something else.`);
}
