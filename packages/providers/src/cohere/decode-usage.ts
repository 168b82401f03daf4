import type { JsonValue } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { readCounts, withUntold } from '../translation/read-counts';
import { asCount, asCounts, asObject } from '../translation/read-json';

/**
 * The tokens billed, which exclude the vendor's own prompts: cached ones among those cost nothing. Without a bill, the
 * tokens processed. undefined when nothing was reported. Source: https://docs.cohere.com/reference/chat
 */
export function decodeUsage(value: JsonValue | undefined): Usage | undefined {
  const usage = asObject(value);
  const counts = asCounts(usage?.billed_units) ?? asCounts(usage?.tokens);
  if (counts === undefined) return undefined;
  const told = readCounts(counts);
  const { input = 0, output: outputTokens = 0 } = told;
  return withUntold({ ...ZERO_USAGE, inputTokens: input + asCount(counts.image_tokens), outputTokens }, told);
}
