import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { EncodeContext, UpstreamRequest } from '../provider-request';
import { chatBody } from '../translation/json-body';
import { askedLimit } from '../translation/output-limit';
import { DroppedParameters, noteMarks } from '../translation/refuse-parameter';
import { noteUnkept, refuseExtras, refuseLacking } from '../translation/translated-fields';
import { ToolNames } from '../translation/vendor-names';
import { encodeMessages } from './encode-messages';
import { encodeReasoning } from './encode-reasoning';
import { encodeResponseFormat } from './encode-response-format';
import { encodeToolChoice, encodeTools } from './encode-tools';
import { endpointOf } from './endpoint';
import { NATIVE_FIELDS, TOOL_NAME_RULE } from './wire';

/** Most stop sequences, and most candidates of a token, that the vendor takes. */
const MAX_STOPS = 5;
const MAX_K = 500;

/** Encodes for the vendor. Throws `unsupported_parameter` unless `dropParams`. Source: https://docs.cohere.com/reference/chat */
export function encodeRequest(request: ChatRequest, context: EncodeContext): UpstreamRequest {
  const dropped = new DroppedParameters(context);
  const body = encodeBody(request, context, dropped);
  return { ...endpointOf(context.connection, 'chat'), body: chatBody(body, request), dropped: dropped.names() };
}

function encodeBody(request: ChatRequest, context: EncodeContext, dropped: DroppedParameters): JsonObject {
  noteMarks(request, dropped);
  refuseLacking(request, dropped, ['n', 'logprobs', 'topLogprobs', 'logitBias', 'parallelToolCalls']);
  noteUnkept(request, dropped, ['user', 'metadata']);
  refuseExtras(request, dropped, (name) => NATIVE_FIELDS.has(name));
  const { serviceTier, stream } = request;
  if (serviceTier !== undefined && serviceTier !== 'auto' && serviceTier !== 'default') {
    dropped.refuse('service_tier', `"${serviceTier}" is unknown to`);
  }
  const shared = { names: new ToolNames(request, TOOL_NAME_RULE), dropped };
  const body: JsonObject = { model: context.model, messages: encodeMessages(request.messages, shared), stream };
  const tools = encodeTools(request, shared);
  const toolChoice = encodeToolChoice(request.toolChoice, shared);
  if (tools.length > 0) body.tools = tools;
  if (tools.length > 0 && toolChoice !== undefined) body.tool_choice = toolChoice;
  const format = encodeResponseFormat(request.responseFormat);
  if (format !== undefined && tools.length > 0) dropped.refuse('response_format', 'beside tools is not supported by');
  else if (format !== undefined) body.response_format = format;
  const thinking = encodeReasoning(request, context, dropped);
  if (thinking !== undefined) body.thinking = thinking;
  setSampling(body, request, dropped);
  const limit = askedLimit(request, context);
  if (limit !== undefined) body.max_tokens = limit;
  for (const name of NATIVE_FIELDS) if (request.extra[name] !== undefined) body[name] = request.extra[name];
  return body;
}

/** Values that mean the same at the border are brought within it; others are refused. */
function setSampling(body: JsonObject, request: ChatRequest, dropped: DroppedParameters): void {
  const { temperature, topP, topK, seed } = request;
  if (temperature !== undefined) body.temperature = within(0, temperature, 1);
  if (topP !== undefined) body.p = within(0.01, topP, 0.99);
  if (topK !== undefined && topK > 0) body.k = Math.min(topK, MAX_K);
  if (seed !== undefined) body.seed = seed;
  const penalties = { frequency_penalty: request.frequencyPenalty, presence_penalty: request.presencePenalty };
  for (const [name, value] of Object.entries(penalties)) {
    if (value !== undefined && (value < 0 || value > 1)) dropped.refuse(name, 'outside of 0 to 1 is not supported by');
    else if (value !== undefined) body[name] = value;
  }
  const stops = (request.stop ?? []).filter((stop) => stop !== '');
  if (stops.length > MAX_STOPS) dropped.refuse('stop', `of more than ${MAX_STOPS} sequences is not supported by`);
  if (stops.length > 0) body.stop_sequences = stops.slice(0, MAX_STOPS);
}

function within(least: number, value: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
