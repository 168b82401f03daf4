import type { JsonObject } from '@llm0/core/chat/json';
import { refuseStored } from '@llm0/core/chat/own-files';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { EncodeContext, UpstreamRequest } from '../provider-request';
import { chatBody } from '../translation/json-body';
import { askedLimit } from '../translation/output-limit';
import { DroppedParameters, noteMarks } from '../translation/refuse-parameter';
import { noteUnkept, refuseExtras, refuseLacking } from '../translation/translated-fields';
import { ToolNames } from '../translation/vendor-names';
import { findCachedName } from './encode-media';
import { encodeMessages } from './encode-messages';
import { encodeReasoning } from './encode-reasoning';
import { encodeResponseFormat } from './encode-response-format';
import { encodeToolChoice, encodeTools } from './encode-tools';
import { contentEndpoint } from './endpoint';
import { quirksOf } from './quirks';
import { NATIVE_FIELDS, TOOL_NAME_RULE } from './wire';

/** Most stop sequences the vendor takes. */
const MAX_STOPS = 5;

/**
 * Encodes for the vendor; its own format keeps every field. Safety settings default to the vendor's. Throws
 * `unsupported_parameter` unless `dropParams`. Source: https://ai.google.dev/api/generate-content
 */
export function encodeRequest(request: ChatRequest, context: EncodeContext): UpstreamRequest {
  const dropped = new DroppedParameters(context);
  const body = request.wire?.format === 'gemini-content' ? request.wire.body : encodeBody(request, context, dropped);
  const { connection, model } = context;
  const endpoint = contentEndpoint({ connection, model, stream: request.stream });
  return { ...endpoint, body: chatBody(body, request), dropped: dropped.names() };
}

function encodeBody(request: ChatRequest, context: EncodeContext, dropped: DroppedParameters): JsonObject {
  noteMarks(request, dropped);
  refuseLacking(request, dropped, ['logitBias', 'parallelToolCalls']);
  noteUnkept(request, dropped, ['user', 'metadata']);
  const cached = findCachedName(request.extra);
  if (cached !== undefined) throw refuseStored(cached, 'Send the content itself.');
  refuseExtras(request, dropped, (name) => NATIVE_FIELDS.has(name) || name === 'modalities');
  const tier = request.serviceTier;
  if (tier !== undefined && tier !== 'auto' && tier !== 'default') {
    dropped.refuse('service_tier', `"${tier}" is unknown to`);
  }
  const quirks = quirksOf(context.model);
  const names = new ToolNames(request, TOOL_NAME_RULE);
  const media = context.media ?? new Map();
  const { signedCalls } = quirks;
  const { system, contents } = encodeMessages(request.messages, { names, dropped, media, signedCalls });
  // System messages alone are the model's input.
  const body: JsonObject = { contents: contents.length > 0 ? contents : [{ role: 'user', parts: system }] };
  if (contents.length > 0 && system.length > 0) body.systemInstruction = { parts: system };
  const toolContext = { names, dropped, quirks };
  const tools = encodeTools(request, toolContext);
  if (tools.length > 0) {
    body.tools = tools;
    const toolConfig = encodeToolChoice(request.toolChoice, toolContext);
    if (toolConfig !== undefined) body.toolConfig = toolConfig;
  }
  const generationConfig: JsonObject = {
    ...encodeSampling(request, context, dropped),
    ...encodeResponseFormat(request.responseFormat, quirks),
  };
  const thinkingConfig = encodeReasoning(request, quirks, dropped);
  if (thinkingConfig !== undefined) generationConfig.thinkingConfig = thinkingConfig;
  if (Object.keys(generationConfig).length > 0) body.generationConfig = generationConfig;
  for (const [name, wireName] of NATIVE_FIELDS) {
    const value = request.extra[name];
    if (value !== undefined) body[wireName] = value;
  }
  return body;
}

/** Members of `generationConfig` that are called alike: ours → the wire's. */
const PLAIN_FIELDS = {
  temperature: 'temperature',
  topP: 'topP',
  seed: 'seed',
  frequencyPenalty: 'frequencyPenalty',
  presencePenalty: 'presencePenalty',
  logprobs: 'responseLogprobs',
  topLogprobs: 'logprobs',
} as const satisfies Partial<Record<keyof ChatRequest, string>>;

function encodeSampling(request: ChatRequest, context: EncodeContext, dropped: DroppedParameters): JsonObject {
  const config: JsonObject = {};
  for (const [ours, wire] of Object.entries(PLAIN_FIELDS)) {
    const value = request[ours as keyof typeof PLAIN_FIELDS];
    if (value !== undefined && value !== false) config[wire] = value;
  }
  if (request.topK !== undefined && request.topK > 0) config.topK = request.topK;
  if (request.n !== undefined && request.n > 1) config.candidateCount = request.n;
  // Without a limit from the caller the vendor's own is the model's maximum.
  const limit = askedLimit(request, context);
  if (limit !== undefined) config.maxOutputTokens = limit;
  const stops = (request.stop ?? []).filter((stop) => stop !== '');
  if (stops.length > MAX_STOPS) dropped.refuse('stop', `of more than ${MAX_STOPS} sequences is not supported by`);
  if (stops.length > 0) config.stopSequences = stops.slice(0, MAX_STOPS);
  const { modalities } = request.extra;
  if (Array.isArray(modalities)) config.responseModalities = modalities.map((one) => String(one).toUpperCase());
  return config;
}
