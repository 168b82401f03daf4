import type { JsonValue } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { readCounts, withUntold } from '../translation/read-counts';
import { asCount, asCounts, asObject, asObjects, asString } from '../translation/read-json';

/**
 * The vendor's counts → ours; undefined when nothing was reported. Its input classes are disjoint, thoughts are counted
 * as output. `serviceTier` as the answer names it.
 * Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
 */
export function decodeUsage(value: JsonValue | undefined, serviceTier: JsonValue | undefined): Usage | undefined {
  const usage = asCounts(value);
  if (usage === undefined) return undefined;
  const counts = readCounts(usage);
  const { input = 0, output: outputTokens = 0, total } = counts;
  const written = asCount(usage.cacheWriteInputTokens);
  const writtenFor1h = asObjects(usage.cacheDetails)
    .filter((detail) => detail.ttl === '1h')
    .reduce((sum, detail) => sum + asCount(detail.inputTokens), 0);
  const cacheWrite1hTokens = Math.min(written, writtenFor1h);
  const cacheReadTokens = asCount(usage.cacheReadInputTokens);
  // If the total has no room for cached tokens beside the input, they are part of it.
  const isInclusive = written + cacheReadTokens > 0 && total === input + outputTokens;
  const tier = asString(asObject(serviceTier)?.type);
  const decoded = {
    ...ZERO_USAGE,
    inputTokens: isInclusive ? Math.max(0, input - written - cacheReadTokens) : input,
    cacheReadTokens,
    cacheWriteTokens: written - cacheWrite1hTokens,
    cacheWrite1hTokens,
    outputTokens,
    ...(tier === undefined || tier === 'default' ? {} : { serviceTier: tier }),
  };
  return withUntold(decoded, counts);
}
