import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';

import { callFees } from '../billing/call-fees';
import { asCount, asCounts, asObject, asString } from '../translation/read-json';

/** Usage so far and what an event adds: counts are cumulative, and a field left out keeps its earlier value. */
export function mergeUsage(before: JsonObject, update: JsonValue | undefined): JsonObject {
  const merged = { ...before };
  const fields = asObject(update);
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined && value !== null) merged[name] = value;
  }
  return merged;
}

/**
 * The vendor's counts → ours; undefined when nothing was reported. Its input classes are disjoint already.
 * Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance
 */
export function decodeUsage(value: JsonValue | undefined): Usage | undefined {
  const usage = asCounts(value);
  if (usage === undefined || (usage.input_tokens === undefined && usage.output_tokens === undefined)) return undefined;
  const written = asCount(usage.cache_creation_input_tokens);
  const split = asObject(usage.cache_creation) ?? {};
  const cacheWrite1hTokens = asCount(split.ephemeral_1h_input_tokens);
  const cacheWriteTokens = Math.max(written - cacheWrite1hTokens, asCount(split.ephemeral_5m_input_tokens));
  const output = asCount(usage.output_tokens);
  const reasoningTokens = Math.min(output, asCount(asObject(usage.output_tokens_details)?.thinking_tokens));
  const tier = asString(usage.service_tier);
  return {
    ...ZERO_USAGE,
    inputTokens: asCount(usage.input_tokens),
    cacheReadTokens: asCount(usage.cache_read_input_tokens),
    cacheWriteTokens,
    cacheWrite1hTokens,
    outputTokens: output - reasoningTokens,
    reasoningTokens,
    ...callFees('web_search', asCount(asObject(usage.server_tool_use)?.web_search_requests)),
    ...(tier === undefined || tier === 'standard' ? {} : { serviceTier: tier }),
  };
}
