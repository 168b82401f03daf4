import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { JSON_TOOL_NAME } from '../claude/answer-format';
import { CACHE_HINTS, withCacheMarks } from '../claude/cache-marks';
import { LACKING } from '../claude/models';
import type { EncodeContext, UpstreamRequest } from '../provider-request';
import { chatBody } from '../translation/json-body';
import { askedLimit } from '../translation/output-limit';
import { asObject } from '../translation/read-json';
import { DroppedParameters } from '../translation/refuse-parameter';
import { noteUnkept, refuseExtras, refuseLacking } from '../translation/translated-fields';
import { ToolNames } from '../translation/vendor-names';
import { encodeMessages } from './encode-messages';
import { encodeReasoning, thinksUnbounded } from './encode-reasoning';
import { encodeResponseFormat } from './encode-response-format';
import { encodeToolChoice, encodeTools, hasCalls } from './encode-tools';
import { converseRequest } from './endpoint';
import { type ModelQuirks, quirksOf } from './quirks';
import { NATIVE_FIELDS, TOOL_NAME_RULE } from './wire';

const NO_MEDIA = new Map<string, never>();
/** Room assumed for thinking where neither the request nor the price book knows a limit. */
const DEFAULT_LIMIT = 8192;

/**
 * Encodes and signs for the vendor. Throws `unsupported_parameter` unless `dropParams`. Source:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
export function encodeRequest(request: ChatRequest, context: EncodeContext): UpstreamRequest {
  const { connection, model } = context;
  const dropped = new DroppedParameters(context);
  const encoded = encodeBody(request, { context, quirks: quirksOf(model), dropped });
  const body = chatBody(encoded, request);
  return { ...converseRequest({ connection, model, stream: request.stream, body }), dropped: dropped.names() };
}

interface BodyInput {
  readonly context: EncodeContext;
  readonly quirks: ModelQuirks;
  readonly dropped: DroppedParameters;
}

function encodeBody(unmarked: ChatRequest, { context, quirks, dropped }: BodyInput): JsonObject {
  const { priced } = context;
  const caches = priced === undefined ? quirks.claude !== undefined : priced.capabilities.includes('prompt_caching');
  // Definitions of tools are cached by one maker's models only.
  const marks = { dropped, tools: quirks.claude !== undefined, ...(caches ? {} : { most: 0 }) };
  const request = withCacheMarks(unmarked, marks);
  refuseLacking(request, dropped, LACKING);
  // Only one maker's models can be limited to one call at a time.
  if (quirks.claude === undefined) refuseLacking(request, dropped, ['parallelToolCalls']);
  noteUnkept(request, dropped, ['user', 'metadata']);
  refuseExtras(request, dropped, (name) => NATIVE_FIELDS.has(name) || (caches && CACHE_HINTS.has(name)));
  const names = new ToolNames(request, TOOL_NAME_RULE);
  const media = context.media ?? NO_MEDIA;
  const shared = { names, dropped, media, refuse: dropped.refuse, documents: { count: 0 } };
  const { system, messages } = encodeMessages(request.messages, shared);
  const answer = encodeResponseFormat(request.responseFormat, context.priced?.capabilities ?? [], quirks);
  if (answer.instruction !== undefined) system.push({ text: answer.instruction });
  // System messages alone are the model's input.
  const body: JsonObject = { messages: messages.length > 0 ? messages : [{ role: 'user', content: system }] };
  if (messages.length > 0 && system.length > 0) body.system = system;
  for (const name of NATIVE_FIELDS) if (request.extra[name] !== undefined) body[name] = request.extra[name];
  if (answer.output !== undefined) body.outputConfig = answer.output;
  const toolForced = setTools(body, request, { names, dropped, answerTool: answer.tool });
  setInference(body, request, { context, quirks, dropped, toolForced });
  setServiceTier(body, request, dropped);
  return body;
}

interface ToolInput {
  readonly names: ToolNames;
  readonly dropped: DroppedParameters;
  /** Replaces structured output; the model must call it. */
  readonly answerTool?: JsonObject;
}

/** Sets the tools and the choice among them; true where one of them must be called. */
function setTools(body: JsonObject, request: ChatRequest, { names, dropped, answerTool }: ToolInput): boolean {
  const forbidden = request.toolChoice?.type === 'none';
  const needed = hasCalls(request.messages);
  // Without tools none is called; but calls among the messages demand that they stay.
  if (forbidden && needed && (request.tools ?? []).length > 0) {
    dropped.refuse('tool_choice', '"none" after earlier calls isn\'t supported by');
  }
  const tools = forbidden && !needed ? [] : encodeTools(request, { names, dropped });
  let choice = tools.length === 0 ? undefined : encodeToolChoice(request.toolChoice, { names, dropped });
  if (answerTool !== undefined) {
    // With other tools on offer the model may call those first; without, it must answer.
    choice ??= tools.length > 0 && !forbidden ? { any: {} } : { tool: { name: JSON_TOOL_NAME } };
    tools.push(answerTool);
  }
  if (tools.length === 0) return false;
  body.toolConfig = { tools, ...(choice === undefined ? {} : { toolChoice: choice }) };
  return choice !== undefined;
}

interface InferenceInput extends BodyInput {
  readonly toolForced: boolean;
}

/** Limits and sampling of Converse for all models, and fields for the model itself. */
function setInference(body: JsonObject, request: ChatRequest, input: InferenceInput): void {
  const { context, quirks, dropped, toolForced } = input;
  const asked = askedLimit(request, context);
  const maxTokens = asked ?? context.priced?.maxOutputTokens ?? quirks.claude?.maxOutputTokens;
  const own: JsonObject = encodeReasoning({
    request,
    quirks,
    dropped,
    toolForced,
    maxTokens: maxTokens ?? DEFAULT_LIMIT,
    hasLimit: asked !== undefined,
  });
  const thinks = own.thinking !== undefined && asObject(own.thinking)?.type !== 'disabled';
  const config: JsonObject = maxTokens === undefined || thinksUnbounded(own) ? {} : { maxTokens };
  setSampling({ config, own }, request, { quirks, dropped, strict: quirks.claude?.fixedSampling === true || thinks });
  const stops = (request.stop ?? []).filter((stop) => stop !== '');
  if (stops.length > 0) config.stopSequences = stops;
  const toolConfig = asObject(body.toolConfig);
  if (request.parallelToolCalls === false && quirks.claude !== undefined && toolConfig !== undefined) {
    own.tool_choice = { ...claudeChoice(asObject(toolConfig.toolChoice)), disable_parallel_tool_use: true };
    // The vendor refuses duplicates.
    delete toolConfig.toolChoice;
  }
  if (Object.keys(config).length > 0) body.inferenceConfig = config;
  const given = asObject(request.extra.additionalModelRequestFields);
  if (Object.keys(own).length > 0) body.additionalModelRequestFields = { ...own, ...given };
}

/** The choice in the words of the model itself, which alone can ask for one call at a time. */
function claudeChoice(choice: JsonObject | undefined): JsonObject {
  if (choice === undefined) return { type: 'auto' };
  return choice.any === undefined ? { type: 'tool', ...asObject(choice.tool) } : { type: 'any' };
}

interface SamplingInput {
  readonly quirks: ModelQuirks;
  readonly dropped: DroppedParameters;
  /** The model accepts defaults only: drops those, and lets the vendor refuse other values. */
  readonly strict: boolean;
}

function setSampling(
  { config, own }: { readonly config: JsonObject; readonly own: JsonObject },
  request: ChatRequest,
  { quirks, dropped, strict }: SamplingInput,
): void {
  const set = (name: string, wire: string, value: number | undefined) => {
    if (value === undefined || (strict && value === 1)) return;
    if (strict && dropped.allowed) dropped.note(name);
    else config[wire] = value;
  };
  const { temperature, topP, topK } = request;
  set('temperature', 'temperature', temperature === undefined ? undefined : Math.min(1, Math.max(0, temperature)));
  // Some models take one of the two; a share of 1 asks for nothing.
  if (temperature === undefined || topP !== 1) set('top_p', 'topP', topP);
  if (topK === undefined || topK <= 0) return;
  if (quirks.topK === 'top_k') own.top_k = topK;
  else if (quirks.topK === 'inferenceConfig') own.inferenceConfig = { topK };
  else dropped.refuse('top_k', 'is not supported by');
}

const SERVICE_TIERS: ReadonlySet<string> = new Set(['default', 'priority', 'flex']);

/** Source: https://docs.aws.amazon.com/bedrock/latest/userguide/service-tiers-inference.html */
function setServiceTier(body: JsonObject, request: ChatRequest, dropped: DroppedParameters): void {
  const { serviceTier } = request;
  if (serviceTier === undefined || serviceTier === 'auto') return;
  if (SERVICE_TIERS.has(serviceTier)) body.serviceTier = { type: serviceTier };
  else dropped.refuse('service_tier', `"${serviceTier}" is unknown to`);
}
