import type { JsonObject } from '@llm0/core/chat/json';
import { completionTokens, type Usage } from '@llm0/core/chat/usage';

/** Disjoint classes → the format's counts; its input excludes cache reads and writes. */
export function encodeUsage(usage: Usage): JsonObject {
  const { cacheWriteTokens, cacheWrite1hTokens, reasoningTokens } = usage;
  return {
    input_tokens: usage.inputTokens + usage.inputAudioTokens,
    cache_creation_input_tokens: cacheWriteTokens + cacheWrite1hTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWriteTokens,
      ephemeral_1h_input_tokens: cacheWrite1hTokens,
    },
    output_tokens: completionTokens(usage),
    ...(reasoningTokens === 0 ? {} : { output_tokens_details: { thinking_tokens: reasoningTokens } }),
    ...encodeTier(usage.serviceTier),
  };
}

const encodeTier = (tier = 'standard'): JsonObject =>
  tier === 'fast' ? { service_tier: 'standard', speed: tier } : { service_tier: tier };
