import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { FinishReason } from '@llm0/core/chat/response';
import { isObject } from '../read-fields';

/** Finish reason in this format. */
export function encodeFinishReason(reason: FinishReason): string {
  return reason === 'tool_calls' ? 'stop' : reason;
}

/** Length of the prompt that a choice continues, where its text is known: offsets count from its beginning. */
export function promptLength({ prompt, n = 1 }: ChatRequest, choice: number): number {
  const text = prompt?.prompts[Math.floor(choice / n)];
  return typeof text === 'string' ? text.length : 0;
}

/** Probabilities by token: this format's lists, or chat's one list of objects. `offset`: of the first token. */
export function encodeLogprobs(value: JsonValue | undefined, offset: number): JsonValue {
  if (!isObject(value)) return null;
  if (!Array.isArray(value.content)) return value;
  const tokens: string[] = [];
  const chances: JsonValue[] = [];
  const others: JsonObject[] = [];
  const offsets: number[] = [];
  let at = offset;
  for (const item of value.content) {
    if (!isObject(item)) continue;
    const token = String(item.token);
    tokens.push(token);
    chances.push(item.logprob ?? null);
    others.push(likeliest(item.top_logprobs));
    offsets.push(at);
    at += token.length;
  }
  return { tokens, token_logprobs: chances, top_logprobs: others, text_offset: offsets };
}

function likeliest(value: JsonValue | undefined): JsonObject {
  const items = Array.isArray(value) ? value.filter(isObject) : [];
  return Object.fromEntries(items.map((item) => [String(item.token), item.logprob ?? null]));
}
