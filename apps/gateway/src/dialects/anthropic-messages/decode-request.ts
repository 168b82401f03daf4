import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest, WireRequest } from '@llm0/core/chat/request';
import { BETA_HEADER } from '@llm0/providers/anthropic/wire';
import { textsOf } from '../decode-lists';
import {
  checkDepth,
  decodeModel,
  ELSEWHERE,
  type FieldReader,
  invalid,
  isObject,
  keepUnknown,
  mustBe,
  type OpenRequest,
  optionalText,
  readBoolean,
  readFields,
  readNumber,
  readObject,
  readString,
  set,
} from '../read-fields';
import { OUTPUT_LIMIT, SHARE } from '../shared-fields';
import { decodeMessages } from './decode-messages';
import { decodeResponseFormat } from './decode-response-format';
import { decodeToolChoice, decodeTools } from './decode-tools';

const MAX_STOPS = 1000;
const TOP_K = { min: 0, max: OUTPUT_LIMIT.max, integer: true } as const;

/** Fields with a place in `ChatRequest`; others go to `extra`. */
const FIELD_READERS: ReadonlyMap<string, FieldReader> = new Map<string, FieldReader>([
  ['model', ELSEWHERE],
  ['messages', ELSEWHERE],
  ['system', ELSEWHERE],
  ['stream', (to, body) => set(to, 'stream', readBoolean(body, 'stream'))],
  ['max_tokens', (to, body) => set(to, 'maxOutputTokens', readNumber(body, 'max_tokens', OUTPUT_LIMIT))],
  ['temperature', (to, body) => set(to, 'temperature', readNumber(body, 'temperature', SHARE))],
  ['top_p', (to, body) => set(to, 'topP', readNumber(body, 'top_p', SHARE))],
  ['top_k', (to, body) => set(to, 'topK', readNumber(body, 'top_k', TOP_K))],
  ['stop_sequences', (to, body) => set(to, 'stop', decodeStops(body.stop_sequences))],
  ['thinking', (to, body) => set(to, 'thinking', decodeThinking(body))],
  ['metadata', readMetadata],
  ['service_tier', (to, body) => set(to, 'serviceTier', decodeTier(body))],
  ['tools', (to, body, extra) => set(to, 'tools', decodeTools(body.tools ?? null, extra))],
  ['tool_choice', (to, body, extra) => Object.assign(to, decodeToolChoice(body.tool_choice ?? null, extra))],
  ['output_config', readOutputConfig],
  [
    'output_format',
    (to, body, extra) =>
      set(to, 'responseFormat', decodeResponseFormat(body.output_format ?? null, 'output_format', extra)),
  ],
]);

/**
 * Decodes a Messages body. Validates every known field, names an invalid one and keeps the others. Source:
 * https://platform.claude.com/docs/en/api/messages
 */
export function decodeRequest(body: JsonObject, headers?: Headers): ChatRequest {
  if (body.max_tokens == null) {
    throw invalid('max_tokens', '"max_tokens" is missing. Say how many tokens the answer may have at most.');
  }
  return decodeBody(body, headers);
}

/** A body of `count_tokens`: without the fields that only answers need. */
export function decodeCountRequest(body: JsonObject, headers?: Headers): ChatRequest {
  return { ...decodeBody({ ...body, stream: false }, headers), countOnly: true };
}

function decodeBody(body: JsonObject, headers: Headers | undefined): ChatRequest {
  checkDepth(body);
  const extra: JsonObject = {};
  const model = decodeModel(body.model);
  const { messages, cleaned } = decodeMessages(body, extra);
  const wire = { ...wireRequest(body, cleaned), ...readBetas(headers) };
  const request: OpenRequest = { model, messages, stream: false, extra, wire };
  return readFields(request, body, FIELD_READERS, extra);
}

function wireRequest(body: JsonObject, cleaned: JsonValue[] | undefined): WireRequest {
  return { format: 'anthropic-messages', body: cleaned === undefined ? body : { ...body, messages: cleaned } };
}

function readBetas(headers: Headers | undefined): Pick<WireRequest, 'headers'> {
  const betas = headers?.get(BETA_HEADER);
  return betas == null || betas === '' ? {} : { headers: { [BETA_HEADER]: betas } };
}

function decodeStops(value: JsonValue | undefined): readonly string[] {
  const texts = textsOf(value, MAX_STOPS);
  if (texts !== undefined) return texts;
  throw mustBe('stop_sequences', 'an array of strings', value);
}

function decodeThinking(body: JsonObject): JsonObject | undefined {
  const thinking = readObject(body, 'thinking');
  if (thinking === undefined || typeof thinking.type === 'string') return thinking;
  throw invalid('thinking.type', '"thinking.type" must be "enabled", "adaptive" or "disabled".');
}

const METADATA_FIELDS: ReadonlySet<string> = new Set(['user_id']);

function readMetadata(to: OpenRequest, body: JsonObject, extra: JsonObject): void {
  const metadata = readObject(body, 'metadata') ?? {};
  keepUnknown(metadata, METADATA_FIELDS, 'metadata', extra);
  set(to, 'user', optionalText(metadata, 'user_id', 'metadata'));
}

/** The vendor's name for the default tier. */
function decodeTier(body: JsonObject): string | undefined {
  const tier = readString(body, 'service_tier');
  return tier === 'standard_only' ? 'default' : tier;
}

const CONFIG_FIELDS: ReadonlySet<string> = new Set(['effort', 'format']);

function readOutputConfig(to: OpenRequest, body: JsonObject, extra: JsonObject): void {
  const config = body.output_config ?? null;
  if (!isObject(config)) throw mustBe('output_config', 'an object', config);
  keepUnknown(config, CONFIG_FIELDS, 'output_config', extra);
  set(to, 'reasoningEffort', readString(config, 'effort'));
  if (config.format != null)
    set(to, 'responseFormat', decodeResponseFormat(config.format, 'output_config.format', extra));
}
