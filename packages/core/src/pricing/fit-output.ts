import type { JsonObject, WireFormat } from '../chat/json';
import type { ChatRequest } from '../chat/request';
import type { HoldEstimate } from './estimate-cost';

/** Vendors refuse less. */
const LEAST_TOKENS = 16;

/** Sets the limit by the name that the body has, else by the last one. */
const named =
  (...names: readonly string[]) =>
  (body: JsonObject, limit: number): JsonObject => {
    const sent = names.filter((name) => body[name] != null);
    const found = sent.length > 0 ? sent : names.slice(-1);
    return { ...body, ...Object.fromEntries(found.map((name) => [name, limit])) };
  };

const within =
  (parts: readonly string[], ...names: readonly string[]) =>
  (body: JsonObject, limit: number): JsonObject => {
    const part = parts.find((one) => body[one] != null) ?? parts[0] ?? '';
    return { ...body, [part]: named(...names)((body[part] ?? {}) as JsonObject, limit) };
  };

const SET_LIMIT: Readonly<Record<WireFormat, (body: JsonObject, limit: number) => JsonObject>> = {
  'openai-chat': named('max_tokens', 'max_completion_tokens'),
  'openai-responses': named('max_output_tokens'),
  'openai-completions': named('max_tokens'),
  'anthropic-messages': named('max_tokens'),
  'gemini-content': within(['generationConfig', 'generation_config'], 'max_output_tokens', 'maxOutputTokens'),
  'bedrock-converse': within(['inferenceConfig'], 'maxTokens'),
  'cohere-chat': named('max_tokens'),
};

/** The request with the largest output limit whose hold is at most `leftNanoUsd`; undefined if none is. */
export function fitOutput(request: ChatRequest, hold: HoldEstimate, leftNanoUsd: number): ChatRequest | undefined {
  const { holdNanoUsd, inputNanoUsd, outputTokens, answers } = hold;
  const share = (leftNanoUsd - inputNanoUsd) / (holdNanoUsd - inputNanoUsd);
  const asked = outputTokens / answers;
  const limit = Math.floor(share * asked);
  // A digest is a cache key, and knows nothing of the limit.
  if (!(limit >= LEAST_TOKENS && limit < asked) || request.digest !== undefined) return undefined;
  return limitOutput(request, limit);
}

export function limitOutput(request: ChatRequest, maxOutputTokens: number): ChatRequest {
  const { wire } = request;
  const limited = wire && { ...wire, body: SET_LIMIT[wire.format](wire.body, maxOutputTokens) };
  return { ...request, maxOutputTokens, wire: limited };
}
