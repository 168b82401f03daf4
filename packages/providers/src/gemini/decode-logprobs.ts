import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { asNumber, asObject, asObjects, asString } from '../translation/read-json';

/**
 * The vendor's log probabilities as a choice's `logprobs`.
 * Source: https://ai.google.dev/api/generate-content#LogprobsResult
 */
export function decodeLogprobs(value: JsonValue | undefined): JsonObject | undefined {
  const result = asObject(value);
  if (result === undefined) return undefined;
  const alternatives = asObjects(result.topCandidates);
  const content = asObjects(result.chosenCandidates).map((chosen, i) => ({
    ...encodeToken(chosen),
    top_logprobs: asObjects(alternatives[i]?.candidates).map(encodeToken),
  }));
  return { content };
}

function encodeToken(candidate: JsonObject): JsonObject {
  const token = asString(candidate.token) ?? '';
  return { token, logprob: asNumber(candidate.logProbability) ?? 0, bytes: [...new TextEncoder().encode(token)] };
}
