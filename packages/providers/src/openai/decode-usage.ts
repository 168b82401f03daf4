import type { JsonValue } from '@llm0/core/chat/json';
import type { Usage } from '@llm0/core/chat/usage';

import { callFees } from '../billing/call-fees';
import { asCount, asCounts, asObject, asString } from '../translation/read-json';

/**
 * The vendor's overlapping counts → disjoint classes; undefined when nothing was reported.
 * Source: https://platform.openai.com/docs/api-reference/chat/object#chat-object-usage
 */
export function decodeUsage(value: JsonValue | undefined, serviceTier?: JsonValue): Usage | undefined {
  const usage = asCounts(value);
  if (usage === undefined) return undefined;
  const prompt = asCount(usage.prompt_tokens);
  const completion = asCount(usage.completion_tokens);
  const promptDetails = asObject(usage.prompt_tokens_details) ?? {};
  const completionDetails = asObject(usage.completion_tokens_details) ?? {};
  const cached =
    asCount(promptDetails.cached_tokens) || asCount(usage.prompt_cache_hit_tokens) || asCount(usage.cached_tokens);
  const cacheReadTokens = Math.min(cached, prompt);
  const cacheWriteTokens = Math.min(asCount(promptDetails.cache_write_tokens), prompt - cacheReadTokens);
  const inputAudioTokens = Math.min(asCount(promptDetails.audio_tokens), prompt - cacheReadTokens - cacheWriteTokens);
  const reasoning = asCount(completionDetails.reasoning_tokens) || asCount(usage.reasoning_tokens);
  // Some vendors leave reasoning out of `completion_tokens`; their total gives it away.
  const besideCompletion = reasoning > 0 && asCount(usage.total_tokens) >= prompt + completion + reasoning;
  const reasoningTokens = besideCompletion ? reasoning : Math.min(reasoning, completion);
  const visible = besideCompletion ? completion : completion - reasoningTokens;
  const outputAudioTokens = Math.min(asCount(completionDetails.audio_tokens), visible);
  return {
    inputTokens: prompt - cacheReadTokens - cacheWriteTokens - inputAudioTokens,
    cacheReadTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: 0,
    inputAudioTokens,
    outputTokens: visible - outputAudioTokens,
    reasoningTokens,
    outputAudioTokens,
    ...callFees('source', asCount(usage.num_sources_used)),
    ...billedTier(asString(serviceTier)),
  };
}

const STANDARD_TIERS: ReadonlySet<string> = new Set(['default', 'standard', 'auto', '']);

function billedTier(tier: string | undefined): Pick<Usage, 'serviceTier'> {
  return tier === undefined || STANDARD_TIERS.has(tier) ? {} : { serviceTier: tier };
}
