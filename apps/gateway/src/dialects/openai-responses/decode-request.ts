import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatMessage, ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import {
  checkDepth,
  decodeModel,
  ELSEWHERE,
  type FieldReader,
  invalid,
  keepUnknown,
  type OpenRequest,
  optionalText,
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

/** Fields with a place in `ChatRequest`; others go to `extra`. */
const FIELD_READERS: ReadonlyMap<string, FieldReader> = new Map<string, FieldReader>([
  ...OPENAI_FIELDS,
  ['input', ELSEWHERE],
  ['instructions', ELSEWHERE],
  ['store', (_to, body) => void readBoolean(body, 'store')],
  ['previous_response_id', (_to, body) => void readString(body, 'previous_response_id')],
  ['background', (_to, body) => refuseBackground(body)],
  ['conversation', refuseConversation],
  ['max_output_tokens', (to, body) => set(to, 'maxOutputTokens', readNumber(body, 'max_output_tokens', OUTPUT_LIMIT))],
  ['tools', (to, body, extra) => set(to, 'tools', decodeTools(body.tools ?? null, extra))],
  ['tool_choice', (to, body) => set(to, 'toolChoice', decodeToolChoice(body.tool_choice))],
  ['text', (to, body, extra) => set(to, 'responseFormat', decodeResponseFormat(body, extra))],
  ['reasoning', readReasoning],
  ['include', readInclude],
  ['truncation', readTruncation],
]);

/**
 * Decodes a Responses body, with references already resolved. Validates every known field, names an invalid one and
 * keeps the others. Source: https://platform.openai.com/docs/api-reference/responses/create
 */
export function decodeRequest(body: JsonObject): ChatRequest {
  checkDepth(body);
  const extra: JsonObject = {};
  const request: OpenRequest = {
    model: decodeModel(body.model),
    messages: [...decodeInstructions(body), ...decodeInput(body, extra)],
    stream: false,
    extra,
    wire: { format: 'openai-responses', body },
  };
  return readFields(request, body, FIELD_READERS, extra);
}

function decodeInstructions(body: JsonObject): ChatMessage[] {
  const text = readString(body, 'instructions');
  return text === undefined ? [] : [{ role: 'system', content: [{ type: 'text', text }] }];
}

/** A prompt stored at the vendor may be the only input. */
function decodeInput(body: JsonObject, extra: JsonObject): ChatMessage[] {
  if (body.input == null && body.prompt != null) return [];
  const messages = decodeMessages(body.input, extra);
  if (messages.length > 0 || body.prompt != null) return messages;
  throw invalid('input', '"input" is empty. Send a text or at least one item.');
}

function refuseBackground(body: JsonObject): void {
  if (readBoolean(body, 'background') !== true) return;
  throw new GatewayError(
    'unsupported_parameter',
    '"background" is not supported: this gateway answers while you wait. Leave it out, or set "stream": true.',
    { param: 'background' },
  );
}

/** The vendor's conversations belong to the operator's account: every project would see those of the others. */
function refuseConversation(): void {
  throw new GatewayError(
    'unsupported_parameter',
    '"conversation" is not supported. Go on from an earlier answer with "previous_response_id".',
    { param: 'conversation' },
  );
}

const REASONING_FIELDS: ReadonlySet<string> = new Set(['effort']);

function readReasoning(request: OpenRequest, body: JsonObject, extra: JsonObject): void {
  const reasoning = readObject(body, 'reasoning') ?? {};
  set(request, 'reasoningEffort', optionalText(reasoning, 'effort', 'reasoning'));
  keepUnknown(reasoning, REASONING_FIELDS, 'reasoning', extra);
}

const LOGPROBS = 'message.output_text.logprobs';

/** Its order means nothing. */
function readInclude(request: OpenRequest, body: JsonObject, extra: JsonObject): void {
  const { include } = body;
  if (!Array.isArray(include) || !include.every((name) => typeof name === 'string')) {
    throw invalid('include', '"include" must be an array of strings.');
  }
  const others = [...new Set(include)].filter((name) => name !== LOGPROBS).sort();
  if (others.length < new Set(include).size) request.logprobs = true;
  if (others.length > 0) extra.include = others;
}

function readTruncation(_request: OpenRequest, body: JsonObject, extra: JsonObject): void {
  const truncation = readString(body, 'truncation');
  if (truncation !== undefined && truncation !== 'disabled') extra.truncation = truncation;
}
