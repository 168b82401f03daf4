import type { ChatRequest } from '../chat/request';
import { digestJsonInSlices } from '../chat/write-json-in-slices';

/** Fields of `extra` that do not change the answer (contract: exact cache). */
const LEFT_OUT: ReadonlySet<string> = new Set(['stream_options', 'store', 'user', 'metadata', 'safety_identifier']);

/**
 * SHA-256 (hex) of project, route and canonical request. Equal for any dialect, streamed or not. `scope`: the route's
 * first configured target, or the alias.
 */
export function exactCacheKey(projectId: string, scope: string, request: ChatRequest): string {
  const hasher = new Bun.CryptoHasher('sha256');
  hasher.update(`${projectId}\n${scope}\n`);
  hasher.update(request.digest ?? canonicalText(request));
  return hasher.digest('hex');
}

/** Digest of a large request's canonical text, for its key. */
export function digestRequest(request: ChatRequest): Promise<string> {
  return digestJsonInSlices(canonicalParts(request));
}

/** The request as one JSON text: fixed field order, unknown fields by name, nothing of delivery or bookkeeping. */
export function canonicalText(request: ChatRequest): string {
  return JSON.stringify(canonicalParts(request));
}

function canonicalParts(request: ChatRequest): unknown[] {
  const extra: [string, unknown][] = [];
  for (const name of Object.keys(request.extra).sort()) {
    if (!LEFT_OUT.has(name)) extra.push([name, request.extra[name]]);
  }
  // Explicit nulls let the runtime serialize several times as fast.
  const parts: unknown[] = [
    request.messages,
    request.tools ?? null,
    request.toolChoice ?? null,
    request.parallelToolCalls ?? null,
    request.responseFormat ?? null,
    request.maxOutputTokens ?? null,
    request.temperature ?? null,
    request.topP ?? null,
    request.topK ?? null,
    request.stop ?? null,
    request.seed ?? null,
    request.n ?? null,
    request.frequencyPenalty ?? null,
    request.presencePenalty ?? null,
    request.logprobs ?? null,
    request.topLogprobs ?? null,
    request.logitBias ?? null,
    request.reasoningEffort ?? null,
    request.thinking ?? null,
    request.serviceTier ?? null,
    extra,
  ];
  if (request.wire?.headers !== undefined) parts.push(request.wire.headers);
  if (request.prompt !== undefined) {
    const { chat: _others, ...prompt } = request.prompt;
    parts.push(['prompt', prompt]);
  }
  if (request.countOnly === true) parts.push('count');
  return parts;
}
