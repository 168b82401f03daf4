import type { JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest, RawTool } from '@llm0/core/chat/request';
import type { DroppedParameters } from './refuse-parameter';

/** Fields that the gateway itself implements for any vendor. */
const HONOURED_HERE: ReadonlySet<string> = new Set([
  'stream_options',
  'reasoning.summary',
  'reasoning.generate_summary',
]);

/**
 * Top-level fields that only help the client or a vendor's own bookkeeping: no answer changes without them. A vendor
 * that knows one of them takes it; for all others it is dropped and named.
 */
const HINTS: ReadonlySet<string> = new Set([
  // OpenAI: accounting, prompt caches, storage at the vendor, faster delivery.
  ...['client_metadata', 'prompt_cache_key', 'prompt_cache_retention', 'safety_identifier', 'store', 'prediction'],
  ...['include', 'prompt_cache_options'],
  // Anthropic: clearing of long contexts, prompt caches, faster delivery.
  ...['context_management', 'cache_control', 'speed'],
  // OpenRouter: counts, which every answer has.
  'usage',
  // Built-in tools by another name: left out as those are.
  'web_search_options',
]);

/** Values that match a vendor's default. */
const DEFAULT_VALUES: ReadonlyMap<string, string> = new Map([
  ['modalities', '["text"]'],
  ['verbosity', '"medium"'],
  ['store', 'false'],
  // Every vendor's reasoning returns sealed.
  ['include', '["reasoning.encrypted_content"]'],
]);

/** `{}` and `[]` ask for nothing. */
function isEmpty(value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/**
 * Refuses unknown fields of a translated request. Reports unknown parts of messages and tools as dropped, because
 * vendors ignore or refuse those. `taken`: fields that the vendor has itself.
 */
export function refuseExtras(
  request: ChatRequest,
  dropped: DroppedParameters,
  taken: (name: string) => boolean = () => false,
): void {
  for (const name in request.wire?.headers) dropped.note(name);
  // A caller that sets it expects to find the answer later.
  if (request.extra.store === true && !taken('store')) dropped.note('store');
  for (const name in request.extra) {
    const value = request.extra[name];
    if (HONOURED_HERE.has(name) || taken(name)) continue;
    if (DEFAULT_VALUES.get(name) === JSON.stringify(value)) continue;
    if (HINTS.has(name) || isEmpty(value) || /[.[]/.test(name)) dropped.note(name);
    else dropped.refuse(name, 'has no counterpart for');
  }
}

/**
 * Reports fields without a counterpart and without effect on the answer. Responses clients get their metadata back from
 * us.
 */
export function noteUnkept(
  request: ChatRequest,
  dropped: DroppedParameters,
  lacking: readonly ('user' | 'metadata')[],
): void {
  const echoed = request.wire?.format === 'openai-responses' ? 'metadata' : undefined;
  for (const name of lacking) if (request[name] !== undefined && name !== echoed) dropped.note(name);
}

/** A parameter of ours that a vendor may lack: its wire name, and whether the request asks for anything by it. */
interface Lackable {
  readonly name: string;
  readonly isAsked: (request: ChatRequest) => boolean;
}

/** Sent at its neutral value, a parameter asks for nothing and is just left out. */
const LACKABLE = {
  n: { name: 'n', isAsked: (r) => (r.n ?? 1) > 1 },
  seed: { name: 'seed', isAsked: (r) => (r.seed ?? 0) !== 0 },
  frequencyPenalty: { name: 'frequency_penalty', isAsked: (r) => (r.frequencyPenalty ?? 0) !== 0 },
  presencePenalty: { name: 'presence_penalty', isAsked: (r) => (r.presencePenalty ?? 0) !== 0 },
  logprobs: { name: 'logprobs', isAsked: (r) => r.logprobs === true },
  topLogprobs: { name: 'top_logprobs', isAsked: (r) => (r.topLogprobs ?? 0) > 0 },
  logitBias: { name: 'logit_bias', isAsked: (r) => Object.keys(r.logitBias ?? {}).length > 0 },
  parallelToolCalls: {
    name: 'parallel_tool_calls',
    isAsked: (r) => r.parallelToolCalls === false && (r.tools ?? []).length > 0,
  },
} as const satisfies Partial<Record<keyof ChatRequest, Lackable>>;

/** Refuses the listed parameters that the request uses; reports those with little effect. */
export function refuseLacking(
  request: ChatRequest,
  dropped: DroppedParameters,
  lacking: readonly (keyof typeof LACKABLE)[],
): void {
  for (const field of lacking) {
    const { name, isAsked } = LACKABLE[field];
    if (!isAsked(request)) continue;
    // A vendor without such a switch may call several tools at once: callers run them one after the other.
    if (field === 'parallelToolCalls') dropped.note(name);
    else dropped.refuse(name, 'is not supported by');
  }
}

/**
 * Drops and reports a built-in tool that this vendor lacks, because the model has other tools and text. Refuses one
 * that the caller requires.
 */
export function leaveOutTool(
  tool: RawTool,
  { tools = [], toolChoice }: Pick<ChatRequest, 'tools' | 'toolChoice'>,
  dropped: DroppedParameters,
): void {
  const kind = String(tool.value.type ?? 'unknown');
  const hasOthers = tools.some((one) => one.type === 'function');
  const isDemanded =
    toolChoice?.type === 'raw' ||
    (toolChoice?.type === 'required' && !hasOthers) ||
    (toolChoice?.type === 'tool' && toolChoice.name === tool.value.name);
  if (OWN_CALL_TOOLS.has(kind)) dropped.refuse(`tools.${kind}`, 'is a tool in a form unknown to');
  else if (isDemanded) dropped.refuse(`tools.${kind}`, 'is a built-in tool unknown to');
  else dropped.note(`tools.${kind}`);
}

/** Tools of the caller's own, in a form that others lack: the program waits for their calls. */
const OWN_CALL_TOOLS: ReadonlySet<string> = new Set(['custom', 'function']);
