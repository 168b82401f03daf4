import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { isUntold, type Usage, untoldOf, ZERO_USAGE } from '@llm0/core/chat/usage';

import { callFees } from '../billing/call-fees';
import { readCounts, withUntold } from '../translation/read-counts';
import { asCount, asCounts, asNumber, asObject, asString } from '../translation/read-json';

/**
 * The vendor's counts → ours; undefined when nothing was reported. Its input classes are disjoint already.
 * Source: https://platform.claude.com/docs/en/build-with-claude/prompt-caching#tracking-cache-performance
 */
export function decodeUsage(value: JsonValue | undefined): Usage | undefined {
  const usage = asCounts(value);
  if (usage === undefined) return undefined;
  const counts = readCounts(usage);
  const input = asCount(usage.input_tokens) || (counts.input ?? 0);
  const output = asCount(usage.output_tokens) || (counts.output ?? 0);
  const written = asCount(usage.cache_creation_input_tokens);
  const split = asObject(usage.cache_creation) ?? {};
  const cacheWrite1hTokens = asCount(split.ephemeral_1h_input_tokens);
  const cacheWriteTokens = Math.max(written - cacheWrite1hTokens, asCount(split.ephemeral_5m_input_tokens));
  const reasoningTokens = Math.min(output, asCount(asObject(usage.output_tokens_details)?.thinking_tokens));
  const tools = asObject(usage.server_tool_use) ?? {};
  const decoded = {
    ...ZERO_USAGE,
    inputTokens: input,
    cacheReadTokens: asCount(usage.cache_read_input_tokens),
    cacheWriteTokens,
    cacheWrite1hTokens,
    outputTokens: output - reasoningTokens,
    reasoningTokens,
    ...callFees({ web_search: tools.web_search_requests, web_fetch: tools.web_fetch_requests }),
    ...billedTier(usage),
    ...surcharge(asString(usage.inference_geo)),
  };
  return withUntold(decoded, counts);
}

/** Fast mode has prices of its own: https://platform.claude.com/docs/en/build-with-claude/fast-mode */
function billedTier({ speed, service_tier: given }: JsonObject): Pick<Usage, 'serviceTier'> {
  if (speed === 'fast') return { serviceTier: speed };
  const tier = asString(given);
  return tier === undefined || tier === 'standard' ? {} : { serviceTier: tier };
}

/** Regions that are none. */
const ANYWHERE: ReadonlySet<string> = new Set(['global', 'default', 'not_available', '']);
/** Surcharge for one region: https://platform.claude.com/docs/en/about-claude/pricing#data-residency-pricing */
const REGION_PERCENT = 10;

function surcharge(geo: string | undefined): Pick<Usage, 'surchargePercent'> {
  return geo === undefined || ANYWHERE.has(geo.toLowerCase()) ? {} : { surchargePercent: REGION_PERCENT };
}

/** Usage from a message's events: counts are cumulative, and a missing field keeps its value. */
export class MessageUsage {
  private merged: JsonObject = {};
  private isOutputTold = false;

  /** undefined if the event has none. `isStart`: initial counts don't predict final ones. */
  add(update: JsonValue | undefined, isStart: boolean): Usage | undefined {
    const fields = asObject(update);
    if (fields === undefined) return undefined;
    for (const name in fields) {
      const value = fields[name];
      if (value !== undefined && value !== null) this.merged[name] = value;
    }
    this.isOutputTold ||= !isStart && (readCounts(fields).output ?? asNumber(fields.output_tokens)) !== undefined;
    const usage = decodeUsage(this.merged);
    if (usage === undefined || this.isOutputTold) return usage;
    return { ...usage, untold: untoldOf(isUntold(usage, 'input'), true) };
  }

  get outputTokens(): number {
    return readCounts(this.merged).output ?? 0;
  }
}
