import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { EncodeContext, UpstreamRequest } from '../provider-request';
import { effortOfBudget } from '../translation/effort-by-budget';
import { chatBody } from '../translation/json-body';
import { capLimit } from '../translation/output-limit';
import { asObject } from '../translation/read-json';
import { countMarks, DroppedParameters, noteMarks } from '../translation/refuse-parameter';
import { refuseExtras } from '../translation/translated-fields';
import { encodeMessages } from './encode-messages';
import { encodeToolChoice, encodeTools } from './encode-tools';
import { type ChatQuirks, endpointOf, REASONING_DEFAULTS } from './endpoint';

/**
 * Encodes for the vendor. The vendor's own format keeps every field except model, delivery and output limit. Throws
 * `unsupported_parameter` unless `dropParams`.
 */
export function encodeRequest(request: ChatRequest, context: EncodeContext, quirks: ChatQuirks): UpstreamRequest {
  const dropped = new DroppedParameters(context);
  const body: JsonObject =
    request.wire?.format === 'openai-chat'
      ? { ...request.wire.body }
      : encodeBody(request, { context, quirks, dropped });
  const isMarked = !quirks.cacheMarks && request.wire?.format === 'openai-chat' && countMarks(request) > 0;
  if (isMarked) removeMarks(body, dropped);
  body.model = context.model;
  if (request.stream || body.stream !== undefined) setDelivery(body, request.stream, quirks);
  const reasoning = quirks.isReasoningModel(context.model, context.priced?.capabilities ?? []);
  const isLimited = (body.max_completion_tokens ?? body.max_tokens ?? context.outputLimit) != null;
  if (isLimited)
    setOutputLimit(body, reasoning ? 'max_completion_tokens' : quirks.outputLimitField, context.outputLimit);
  if (reasoning) removeSampling(body, context.dropParams, dropped);
  for (const name in quirks.renamed) rename(body, name, quirks.renamed[name] ?? name);
  return {
    ...endpointOf(context.connection, 'chat/completions'),
    body: chatBody(body, request),
    dropped: dropped.names(),
  };
}

/** `cache_control` of messages, their parts, tools and their functions. */
function removeMarks(body: JsonObject, dropped: DroppedParameters): void {
  dropped.note('cache_control');
  for (const name of ['messages', 'tools'] as const) {
    const list = body[name];
    if (Array.isArray(list)) body[name] = list.map(withoutMark);
  }
}

function withoutMark(value: JsonValue): JsonValue {
  const item = asObject(value);
  if (item === undefined) return value;
  const { cache_control: _mark, ...rest } = item;
  if (Array.isArray(rest.content)) rest.content = rest.content.map(withoutMark);
  if (rest.function !== undefined) rest.function = withoutMark(rest.function);
  return rest;
}

export function setDelivery(body: JsonObject, stream: boolean, quirks: ChatQuirks): void {
  if (!stream) {
    if (body.stream !== undefined) body.stream = false;
    return;
  }
  body.stream = true;
  if (quirks.streamOptions) body.stream_options = { ...asObject(body.stream_options), include_usage: true };
  else delete body.stream_options;
}

/** Brings the limit into the field the model knows; sets one where the request has none and `fallback` is given. */
function setOutputLimit(
  body: JsonObject,
  field: ChatQuirks['outputLimitField'] | 'max_completion_tokens',
  fallback: number | undefined,
): void {
  const sent = body.max_completion_tokens ?? body.max_tokens;
  const limit = sent ?? fallback;
  if (limit === undefined || limit === null || (field === 'as-sent' && limit === sent)) return;
  delete body.max_tokens;
  delete body.max_completion_tokens;
  body[field === 'as-sent' ? 'max_tokens' : field] = limit;
}

/**
 * Reasoning models refuse sampling parameters. Defaults are dropped; other values pass (some of these models accept
 * them), unless the caller allows dropping.
 */
function removeSampling(body: JsonObject, dropParams: boolean, dropped: DroppedParameters): void {
  // With reasoning switched off these models sample as others do.
  if (body.reasoning_effort === 'none') return;
  for (const name in REASONING_DEFAULTS) {
    const value = body[name];
    if (value === undefined) continue;
    const harmless = value === REASONING_DEFAULTS[name] || value === null;
    if (!harmless && !dropParams) continue;
    delete body[name];
    if (!harmless) dropped.note(name);
  }
}

function rename(body: JsonObject, from: string, to: string): void {
  const value = body[from];
  if (value === undefined) return;
  delete body[from];
  body[to] ??= value;
}

/** Fields that are called the same in both languages: ours → the wire's. */
const PLAIN_FIELDS = {
  temperature: 'temperature',
  topP: 'top_p',
  seed: 'seed',
  n: 'n',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  logprobs: 'logprobs',
  topLogprobs: 'top_logprobs',
  logitBias: 'logit_bias',
  reasoningEffort: 'reasoning_effort',
  serviceTier: 'service_tier',
  user: 'user',
  metadata: 'metadata',
  parallelToolCalls: 'parallel_tool_calls',
  maxOutputTokens: 'max_completion_tokens',
} as const satisfies Partial<Record<keyof ChatRequest, string>>;

interface BodyInput {
  readonly context: EncodeContext;
  readonly quirks: ChatQuirks;
  readonly dropped: DroppedParameters;
}

const NO_MEDIA = new Map<string, never>();

/** A request from another format. */
function encodeBody(request: ChatRequest, { context, quirks, dropped }: BodyInput): JsonObject {
  const { refuse } = dropped;
  noteMarks(request, dropped);
  const messages = encodeMessages(request.messages, { dropped, media: context.media ?? NO_MEDIA });
  const body: JsonObject = { model: request.model, messages };
  for (const [ours, wire] of Object.entries(PLAIN_FIELDS)) {
    const value = request[ours as keyof typeof PLAIN_FIELDS];
    if (value !== undefined) body[wire] = value;
  }
  if (request.stop !== undefined) body.stop = [...request.stop];
  if (request.topK !== undefined) {
    if (quirks.topK) body.top_k = request.topK;
    else refuse('top_k', 'is not supported by');
  }
  const tools = encodeTools(request, dropped);
  if (tools.length > 0) {
    body.tools = tools;
    if (request.toolChoice !== undefined) body.tool_choice = encodeToolChoice(request.toolChoice, refuse);
  } else delete body.parallel_tool_calls;
  if (request.responseFormat !== undefined) body.response_format = encodeResponseFormat(request.responseFormat);
  setEffort(body, request, { context, quirks, dropped });
  // Callers of other formats must name a limit, often a larger one than this model has.
  capLimit(body, 'max_completion_tokens', context);
  refuseExtras(request, dropped, (name) => name === 'stream_options');
  return body;
}

function encodeResponseFormat(format: NonNullable<ChatRequest['responseFormat']>): JsonObject {
  if (format.type !== 'json_schema') return { type: format.type };
  const { name, description, schema, strict } = format;
  const inner: JsonObject = { name, schema };
  if (description !== undefined) inner.description = description;
  if (strict !== undefined) inner.strict = strict;
  return { type: 'json_schema', json_schema: inner };
}

/** The highest effort of other formats, in this one's words. */
const HIGHEST_EFFORT = { theirs: 'max', ours: 'high' } as const;

/** Sets the reasoning effort. Omits it for models without reasoning, and reports that. */
function setEffort(body: JsonObject, request: ChatRequest, { context, quirks, dropped }: BodyInput): void {
  const { thinking } = request;
  const capabilities = context.priced?.capabilities;
  const thinks = quirks.isReasoningModel(context.model, capabilities ?? []) || capabilities?.includes('reasoning');
  if (thinks === false && capabilities !== undefined) {
    if (body.reasoning_effort !== undefined) dropped.note('reasoning_effort');
    if (thinking !== undefined && thinking.type !== 'disabled') dropped.note('thinking');
    delete body.reasoning_effort;
    return;
  }
  if (body.reasoning_effort === HIGHEST_EFFORT.theirs) body.reasoning_effort = HIGHEST_EFFORT.ours;
  if (thinking === undefined || body.reasoning_effort !== undefined) return;
  // The format has no word that every model takes for not thinking at all.
  if (thinking.type === 'disabled') dropped.note('thinking');
  const effort = effortOfBudget(thinking);
  if (effort !== undefined) body.reasoning_effort = effort;
}
