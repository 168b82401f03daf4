import type { JsonObject } from '@llm0/core/chat/json';
import { completionTokens, promptTokens, type Usage } from '@llm0/core/chat/usage';

/** Disjoint classes → the format's nested counts. */
export function encodeUsage(usage: Usage): JsonObject {
  const prompt = promptTokens(usage);
  const completion = completionTokens(usage);
  const written = usage.cacheWriteTokens + usage.cacheWrite1hTokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      audio_tokens: usage.inputAudioTokens,
      ...(written === 0 ? {} : { cache_write_tokens: written }),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: usage.outputAudioTokens,
    },
  };
}
