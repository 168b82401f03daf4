import type { ChatRequest, ContentPart } from '../chat/request';
import { digestJsonInSlices } from '../chat/write-json-in-slices';

/** Fields of `extra` that do not change the answer (contract: exact cache). */
const LEFT_OUT: ReadonlySet<string> = new Set(['stream_options', 'store', 'user', 'metadata', 'safety_identifier']);

/**
 * SHA-256 (hex) of project, route and canonical request. Equal for any dialect, streamed or not. `scope`: the route's
 * first configured target, or the alias.
 */
export function exactCacheKey(projectId: string, scope: string, request: ChatRequest): string {
  const start = `${projectId}\n${scope}\n`;
  if (request.digest === undefined && hasLongText(request)) return keyOfLong(start, request);
  const text = request.digest ?? JSON.stringify(canonicalParts(request));
  if (text.length < LONG_TEXT) return Bun.CryptoHasher.hash('sha256', start + text, 'hex');
  return new Bun.CryptoHasher('sha256').update(start).update(text).digest('hex');
}

/** A text of this length would cost the collector more than the hash if it were copied into another one. */
const LONG_TEXT = 16 * 1024;

/** Hashes long texts as they are: in the canonical text, their lengths stand for them, which no short text can. */
function keyOfLong(start: string, request: ChatRequest): string {
  const long: string[] = [];
  const shorten = (part: ContentPart) => {
    if (part.type !== 'text' || part.text.length < LONG_TEXT) return part;
    long.push(part.text);
    return { ...part, text: part.text.length };
  };
  const messages = request.messages.map((message) => ({ ...message, content: message.content.map(shorten) }));
  const hasher = new Bun.CryptoHasher('sha256').update(start).update(JSON.stringify(canonicalParts(request, messages)));
  for (const text of long) hasher.update(text);
  return hasher.digest('hex');
}

function hasLongText({ messages }: ChatRequest): boolean {
  for (const { content } of messages) {
    for (const part of content) if (part.type === 'text' && part.text.length >= LONG_TEXT) return true;
  }
  return false;
}

/** Digest of a large request's canonical text, for its key. */
export function digestRequest(request: ChatRequest): Promise<string> {
  return digestJsonInSlices(canonicalParts(request));
}

/** The request as one JSON text: fixed field order, unknown fields by name, nothing of delivery or bookkeeping. */
export function canonicalText(request: ChatRequest): string {
  return JSON.stringify(canonicalParts(request));
}

function canonicalParts(request: ChatRequest, messages: readonly unknown[] = request.messages): unknown[] {
  const names = Object.keys(request.extra);
  const extra = names.length === 0 ? names : extrasOf(request, names);
  // Explicit nulls let the runtime serialize several times as fast.
  const parts: unknown[] = [
    messages,
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

function extrasOf({ extra }: ChatRequest, names: string[]): unknown[] {
  return names
    .sort()
    .filter((name) => !LEFT_OUT.has(name))
    .map((name) => [name, extra[name]]);
}
