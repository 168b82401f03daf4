import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { hostedToolFees } from '../billing/call-fees';
import { readCounts, withUntold } from '../translation/read-counts';
import {
  asCount,
  asCounts,
  asObject,
  asString,
  type CountKind,
  type CountNames,
  countNames,
  holdsOnly,
} from '../translation/read-json';

/**
 * The vendor's overlapping counts → disjoint classes, by the names of all of its formats; undefined when nothing was reported.
 * Source: https://platform.openai.com/docs/api-reference/chat/object#chat-object-usage
 */
export function decodeUsage(
  value: JsonValue | undefined,
  serviceTier?: JsonValue,
  toolUsage?: JsonValue,
): Usage | undefined {
  const isPlain = toolUsage === undefined && (serviceTier === undefined || serviceTier === 'default');
  return (isPlain ? readUsual(value) : undefined) ?? readAny(value, serviceTier, toolUsage);
}

/** Usage in the format's own words. */
interface UsualUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details?: Readonly<Record<string, number>> | null;
  readonly completion_tokens_details?: Readonly<Record<string, number>> | null;
}

const USUAL_NAMES: CountNames = new Map<string, CountKind>([
  ...countNames('prompt_tokens', 'completion_tokens', 'total_tokens'),
  ['prompt_tokens_details', countNames('cached_tokens', 'audio_tokens')],
  [
    'completion_tokens_details',
    countNames('reasoning_tokens', 'audio_tokens', 'accepted_prediction_tokens', 'rejected_prediction_tokens'),
  ],
]);

/** The usage of nearly all answers, just as `readAny` reads it; undefined where it holds anything else. */
function readUsual(value: JsonValue | undefined): Usage | undefined {
  if (value === null || !holdsOnly(value, USUAL_NAMES)) return undefined;
  const usage = value as unknown as UsualUsage;
  const { prompt_tokens: prompt, completion_tokens: output, total_tokens: total } = usage;
  const { prompt_tokens_details: input, completion_tokens_details: said } = usage;
  // Undefined counts make this false, too.
  if (!(total > 0 && total === prompt + output)) return undefined;
  const cacheReadTokens = Math.min(input?.cached_tokens ?? 0, prompt);
  const inputAudioTokens = Math.min(input?.audio_tokens ?? 0, prompt - cacheReadTokens);
  const reasoningTokens = Math.min(said?.reasoning_tokens ?? 0, output);
  const outputAudioTokens = Math.min(said?.audio_tokens ?? 0, output - reasoningTokens);
  return {
    inputTokens: prompt - cacheReadTokens - inputAudioTokens,
    cacheReadTokens,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    inputAudioTokens,
    outputTokens: output - reasoningTokens - outputAudioTokens,
    reasoningTokens,
    outputAudioTokens,
  };
}

/** Usage in the words of any vendor. */
export function readAny(
  value: JsonValue | undefined,
  serviceTier?: JsonValue,
  toolUsage?: JsonValue,
): Usage | undefined {
  const usage = asCounts(value);
  if (usage === undefined) return feesAlone(toolUsage);
  const counts = readCounts(usage);
  const { input = 0, output = 0, total } = counts;
  const inputDetails = asObject(usage.prompt_tokens_details ?? usage.input_tokens_details) ?? {};
  const outputDetails = asObject(usage.completion_tokens_details ?? usage.output_tokens_details) ?? {};
  const beside = besideInput(usage);
  const prompt = input + beside.read + beside.written;
  const cached =
    asCount(inputDetails.cached_tokens) || asCount(usage.prompt_cache_hit_tokens) || asCount(usage.cached_tokens);
  const cacheReadTokens = Math.min(Math.max(cached, beside.read), prompt);
  const lifetimes = asObject(inputDetails.cache_write_tokens_details) ?? {};
  const writtenForLong = asCount(lifetimes.ttl_12h_tokens);
  const written = Math.min(
    Math.max(
      asCount(inputDetails.cache_write_tokens),
      writtenForLong + asCount(lifetimes.ttl_30m_tokens),
      beside.written,
    ),
    prompt - cacheReadTokens,
  );
  const cacheWrite1hTokens = Math.min(writtenForLong, written);
  const inputAudioTokens = Math.min(asCount(inputDetails.audio_tokens), prompt - cacheReadTokens - written);
  const reasoning = asCount(outputDetails.reasoning_tokens) || asCount(usage.reasoning_tokens);
  // Some vendors leave reasoning out of `completion_tokens`; their total gives it away.
  const besideCompletion = reasoning > 0 && total >= prompt + output + reasoning;
  const reasoningTokens = besideCompletion ? reasoning : Math.min(reasoning, output);
  const visible = besideCompletion ? output : output - reasoningTokens;
  const outputAudioTokens = Math.min(asCount(outputDetails.audio_tokens), visible);
  const decoded = {
    inputTokens: prompt - cacheReadTokens - written - inputAudioTokens,
    cacheReadTokens,
    cacheWriteTokens: written - cacheWrite1hTokens,
    cacheWrite1hTokens,
    inputAudioTokens,
    outputTokens: visible - outputAudioTokens,
    reasoningTokens,
    outputAudioTokens,
    ...hostedToolFees(toolUsage, usage.num_sources_used),
    ...billedTier(asString(serviceTier)),
  };
  return withUntold(decoded, counts);
}

/** Cached tokens that servers of another format count beside their input; elsewhere they are part of it. */
function besideInput(usage: JsonObject): { readonly read: number; readonly written: number } {
  if (usage.prompt_tokens !== undefined) return { read: 0, written: 0 };
  return { read: asCount(usage.cache_read_input_tokens), written: asCount(usage.cache_creation_input_tokens) };
}

/** Hosted tools are reported separately from usage, which may be missing. */
function feesAlone(toolUsage: JsonValue | undefined): Usage | undefined {
  const fees = hostedToolFees(toolUsage);
  return fees.feeNanoUsd === undefined ? undefined : { ...ZERO_USAGE, ...fees, untold: 'both' };
}

const STANDARD_TIERS: ReadonlySet<string> = new Set(['default', 'standard', 'auto', '']);
/** Its newer name: https://developers.openai.com/api/docs/guides/fast-mode */
const RENAMED_TIERS: Readonly<Record<string, string>> = { fast: 'priority' };

function billedTier(given: string | undefined): Pick<Usage, 'serviceTier'> {
  const tier = given?.toLowerCase();
  return tier === undefined || STANDARD_TIERS.has(tier) ? {} : { serviceTier: RENAMED_TIERS[tier] ?? tier };
}
