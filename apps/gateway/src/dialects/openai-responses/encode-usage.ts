import type { JsonObject } from '@llm0/core/chat/json';
import { completionTokens, promptTokens, type Usage } from '@llm0/core/chat/usage';

/** Disjoint classes → the format's nested counts. */
export function encodeUsage(usage: Usage): JsonObject {
  const input = promptTokens(usage);
  const output = completionTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
      ...(usage.inputAudioTokens === 0 ? {} : { audio_tokens: usage.inputAudioTokens }),
    },
    output_tokens: output,
    output_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      ...(usage.outputAudioTokens === 0 ? {} : { audio_tokens: usage.outputAudioTokens }),
    },
    total_tokens: input + output,
  };
}
