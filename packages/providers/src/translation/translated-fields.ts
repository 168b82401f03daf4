import type { ChatRequest } from '@llm0/core/chat/request';
import type { DroppedParameters } from './refuse-parameter';

/** Top-level fields about delivery and storage at one vendor: leaving them out changes no answer, and nobody misses them. */
const HARMLESS_FIELDS: ReadonlySet<string> = new Set([
  'stream_options',
  'store',
  'reasoning.summary',
  'reasoning.generate_summary',
  // What it asks for is about built-in tools, or comes anyway.
  'include',
]);

/** Fields about accounting and prompt caches at one vendor: no answer changes, and yet the caller may count on them. */
const REPORTED_FIELDS: ReadonlySet<string> = new Set([
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
]);

/** Values that only say what a vendor does anyway. */
const DEFAULT_VALUES: ReadonlyMap<string, string> = new Map([
  ['modalities', '["text"]'],
  ['verbosity', '"medium"'],
]);

/**
 * What a translated request holds beyond our own types: unknown fields are refused; unknown parts of messages and
 * tools, which vendors ignore or refuse by themselves, are named as dropped. `taken`: fields the vendor has itself.
 */
export function refuseExtras(
  request: ChatRequest,
  dropped: DroppedParameters,
  taken: (name: string) => boolean = () => false,
): void {
  for (const name in request.wire?.headers) dropped.note(name);
  // Who asks for it looks for the answer there later.
  if (request.extra.store === true && !taken('store')) dropped.note('store');
  for (const name in request.extra) {
    if (HARMLESS_FIELDS.has(name) || taken(name)) continue;
    if (DEFAULT_VALUES.get(name) === JSON.stringify(request.extra[name])) continue;
    if (REPORTED_FIELDS.has(name) || /[.[]/.test(name)) dropped.note(name);
    else dropped.refuse(name, 'has no counterpart for');
  }
}

/** Names what a vendor has no place for, and no answer depends on. Callers of Responses get their metadata back from us. */
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

/** Refuses those of the named parameters that the request really uses; what changes next to nothing is only named. */
export function refuseLacking(
  request: ChatRequest,
  dropped: DroppedParameters,
  lacking: readonly (keyof typeof LACKABLE)[],
): void {
  for (const field of lacking) {
    const { name, isAsked } = LACKABLE[field];
    if (!isAsked(request)) continue;
    if (field === 'parallelToolCalls' && hasOneChoice(request)) dropped.note(name);
    else dropped.refuse(name, 'is not supported by');
  }
}

/** Told which one tool to call, a model has no reason to call several. */
function hasOneChoice({ toolChoice, tools = [] }: ChatRequest): boolean {
  return toolChoice?.type === 'tool' || (toolChoice?.type === 'required' && tools.length === 1);
}
