import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { JSON_TOOL_NAME } from '../claude/answer-format';
import { CACHE_HINTS, withCacheMarks } from '../claude/cache-marks';
import { LACKING, type ModelQuirks, quirksOf } from '../claude/models';
import { encodeReasoning } from '../claude/reasoning';
import type { EncodeContext, Endpoint, ProviderConnection, UpstreamRequest } from '../provider-request';
import { chatBody } from '../translation/json-body';
import { askedLimit, capLimit } from '../translation/output-limit';
import { asObject } from '../translation/read-json';
import { DroppedParameters } from '../translation/refuse-parameter';
import { noteUnkept, refuseExtras, refuseLacking } from '../translation/translated-fields';
import { ToolNames } from '../translation/vendor-names';
import { encodeMessages, hasSignedReasoning } from './encode-messages';
import { encodeResponseFormat } from './encode-response-format';
import { encodeToolChoice, encodeTools } from './encode-tools';
import { messagesEndpoint } from './endpoint';
import { BETA_HEADER, NATIVE_FIELDS, TOOL_NAME_RULE, UNCOUNTED_FIELDS, WIRE_FORMAT } from './wire';

export interface ClaudeTarget {
  readonly connection: ProviderConnection;
  /** Complete; the host may change it. */
  readonly body: JsonObject;
  readonly betas: readonly string[];
  readonly isCount: boolean;
  readonly stream: boolean;
}

/** Address and authentication at whoever runs the model. */
export type ClaudeHost = (target: ClaudeTarget) => Endpoint;

const ownApi: ClaudeHost = ({ connection, betas, isCount }) =>
  messagesEndpoint(connection, betas, isCount ? '/v1/messages/count_tokens' : '/v1/messages');

/**
 * Encodes for the vendor. The vendor's own format keeps every field except model, delivery and a missing output limit.
 * Throws `unsupported_parameter` unless `dropParams`. Source: https://platform.claude.com/docs/en/api/messages
 */
export const encodeRequest = (request: ChatRequest, context: EncodeContext): UpstreamRequest =>
  encodeFor(request, context, ownApi);

export function encodeFor(request: ChatRequest, context: EncodeContext, host: ClaudeHost): UpstreamRequest {
  const dropped = new DroppedParameters(context);
  const quirks = quirksOf(context.model);
  const native = request.wire?.format === WIRE_FORMAT ? request.wire : undefined;
  const body = native === undefined ? encodeBody(request, { context, quirks, dropped }) : { ...native.body };
  // A fallback or an alias's target may have a smaller output limit than the requested model.
  if (native !== undefined && body.model !== context.model) capLimit(body, 'max_tokens', context);
  body.model = context.model;
  const isCount = request.countOnly === true;
  const stream = request.stream && !isCount;
  if (isCount) for (const name of UNCOUNTED_FIELDS) delete body[name];
  else body.max_tokens ??= outputLimit(request, context, quirks);
  if (stream) body.stream = true;
  else delete body.stream;
  const endpoint = host({ connection: context.connection, body, betas: betasOf(request), isCount, stream });
  return { ...endpoint, body: chatBody(body, request), dropped: dropped.names() };
}

/** Beta features the caller asked for. */
function betasOf(request: ChatRequest): string[] {
  const asked = request.wire?.headers?.[BETA_HEADER]?.split(',').map((name) => name.trim()) ?? [];
  return [...new Set(asked.filter((name) => name !== ''))];
}

/** The vendor demands a limit: without one from the caller it is the model's own maximum. */
function outputLimit(request: ChatRequest, context: EncodeContext, quirks: ModelQuirks): number {
  return askedLimit(request, context) ?? context.priced?.maxOutputTokens ?? quirks.maxOutputTokens;
}

interface BodyInput {
  readonly context: EncodeContext;
  readonly quirks: ModelQuirks;
  readonly dropped: DroppedParameters;
}

function encodeBody(unmarked: ChatRequest, { context, quirks, dropped }: BodyInput): JsonObject {
  // One that the vendor sets by itself counts too.
  const request = withCacheMarks(unmarked, { dropped, most: unmarked.extra.cache_control === undefined ? 4 : 3 });
  refuseLacking(request, dropped, LACKING);
  noteUnkept(request, dropped, ['metadata']);
  const native = Object.entries(request.extra).filter(([name, value]) => isNative(name, value));
  refuseExtras(request, dropped, (name) => CACHE_HINTS.has(name) || native.some(([taken]) => taken === name));
  const names = new ToolNames(request, TOOL_NAME_RULE);
  const { system, messages } = encodeMessages(request.messages, { names, dropped });
  const answer = encodeResponseFormat(request.responseFormat, context.priced?.capabilities ?? [], quirks);
  if (answer.instruction !== undefined) system.push({ type: 'text', text: answer.instruction });
  const maxTokens = outputLimit(request, context, quirks);
  // System messages alone are the model's input.
  const body: JsonObject = {
    model: context.model,
    max_tokens: maxTokens,
    messages: messages.length > 0 ? messages : [{ role: 'user', content: system }],
  };
  if (messages.length > 0 && system.length > 0) body.system = system;
  const toolForced = setTools(body, request, { names, dropped, answerTool: answer.tool });
  for (const [name, value] of native) body[name] = value;
  const reasoning = encodeReasoning({ request, quirks, maxTokens, toolForced, dropped, hasSignedReasoning });
  if (reasoning.thinking !== undefined) body.thinking = reasoning.thinking;
  const config: JsonObject = { ...asObject(request.extra.output_config) };
  if (reasoning.effort !== undefined) config.effort = reasoning.effort;
  if (answer.format !== undefined) config.format = answer.format;
  if (Object.keys(config).length > 0) body.output_config = config;
  setSampling(body, request, { strict: quirks.fixedSampling || thinks(reasoning.thinking), dropped });
  setStops(body, request, dropped);
  if (request.user !== undefined) body.metadata = { user_id: request.user };
  setServiceTier(body, request, dropped);
  return body;
}

/** Two vendors use this name for handling long contexts; this one's is an object. */
function isNative(name: string, value: JsonValue): boolean {
  return NATIVE_FIELDS.has(name) && !Array.isArray(name === 'context_management' ? value : undefined);
}

interface ToolInput {
  readonly names: ToolNames;
  readonly dropped: DroppedParameters;
  /** Replaces structured output; the model must call it. */
  readonly answerTool?: JsonObject;
}

/** Sets the tools and the choice among them; true where one of them must be called. */
function setTools(body: JsonObject, request: ChatRequest, { names, dropped, answerTool }: ToolInput): boolean {
  const tools = encodeTools(request, { names, dropped });
  const offersOthers = tools.length > 0 && request.toolChoice?.type !== 'none';
  let choice = encodeToolChoice({ request, hasTools: tools.length > 0, names, refuse: dropped.refuse });
  if (answerTool !== undefined) {
    tools.push(answerTool);
    // With other tools on offer the model may call those first; without, it must answer.
    const forced: JsonObject = offersOthers ? { type: 'any' } : { type: 'tool', name: JSON_TOOL_NAME };
    if (choice === undefined || choice.type === 'auto' || choice.type === 'none') choice = { ...choice, ...forced };
  }
  if (tools.length > 0) body.tools = tools;
  if (choice !== undefined) body.tool_choice = choice;
  return choice?.type === 'any' || choice?.type === 'tool';
}

function thinks(thinking: JsonObject | undefined): boolean {
  return thinking !== undefined && thinking.type !== 'disabled';
}

interface SamplingInput {
  /** The model accepts defaults only: drops those, and lets the vendor refuse other values. */
  readonly strict: boolean;
  readonly dropped: DroppedParameters;
}

function setSampling(body: JsonObject, request: ChatRequest, { strict, dropped }: SamplingInput): void {
  const set = (name: string, value: number | undefined, isDefault: boolean) => {
    if (value === undefined || (strict && isDefault)) return;
    if (strict && dropped.allowed) dropped.note(name);
    else body[name] = value;
  };
  const { temperature, topP, topK } = request;
  set('temperature', temperature === undefined ? undefined : Math.min(1, Math.max(0, temperature)), temperature === 1);
  // Models take one of the two; a share of 1 asks for nothing.
  if (temperature === undefined || topP !== 1) set('top_p', topP, topP === 1);
  if (topK !== undefined && topK > 0) set('top_k', topK, false);
}

function setStops(body: JsonObject, request: ChatRequest, dropped: DroppedParameters): void {
  const stops = (request.stop ?? []).filter((stop) => stop !== '');
  const visible = stops.filter((stop) => stop.trim() !== '');
  if (visible.length < stops.length) dropped.refuse('stop', 'of white space alone is not supported by');
  if (visible.length > 0) body.stop_sequences = visible;
}

const SERVICE_TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  default: 'standard_only',
  standard_only: 'standard_only',
};

function setServiceTier(body: JsonObject, request: ChatRequest, dropped: DroppedParameters): void {
  if (request.serviceTier === undefined) return;
  const tier = SERVICE_TIERS[request.serviceTier];
  if (tier === undefined) dropped.refuse('service_tier', `"${request.serviceTier}" is unknown to`);
  else body.service_tier = tier;
}
