import type { JsonValue } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { readCounts, withUntold } from '../translation/read-counts';
import {
  asCount,
  asCounts,
  asObjects,
  asString,
  type CountKind,
  type CountNames,
  holdsOnly,
} from '../translation/read-json';

/**
 * The vendor's overlapping counts → disjoint classes; undefined when nothing was reported.
 * Source: https://ai.google.dev/api/generate-content#UsageMetadata
 */
export function decodeUsage(value: JsonValue | undefined): Usage | undefined {
  return readUsual(value) ?? readAny(value);
}

/** Usage of an answer of texts. */
interface UsualUsage {
  readonly promptTokenCount: number;
  readonly candidatesTokenCount: number;
  readonly totalTokenCount: number;
  readonly thoughtsTokenCount?: number;
  readonly cachedContentTokenCount?: number;
}

const USUAL_NAMES: CountNames = new Map<string, CountKind>([
  ['promptTokenCount', 'count'],
  ['candidatesTokenCount', 'count'],
  ['totalTokenCount', 'count'],
  ['thoughtsTokenCount', 'count'],
  ['cachedContentTokenCount', 'count'],
  ['promptTokensDetails', 'modalities'],
  ['candidatesTokensDetails', 'modalities'],
  ['cacheTokensDetails', 'modalities'],
]);

/** The usage of nearly all chunks, just as `readAny` reads it; undefined where it holds anything else. */
function readUsual(value: JsonValue | undefined): Usage | undefined {
  if (value === null || !holdsOnly(value, USUAL_NAMES)) return undefined;
  const usage = value as unknown as UsualUsage;
  const { promptTokenCount: prompt, candidatesTokenCount: candidates, totalTokenCount: total } = usage;
  const { thoughtsTokenCount: reasoningTokens = 0, cachedContentTokenCount: cached = 0 } = usage;
  // Undefined counts make this false, too.
  if (!(prompt > 0 && candidates > 0 && total === prompt + candidates + reasoningTokens)) return undefined;
  const cacheReadTokens = Math.min(prompt, cached);
  const inputTokens = prompt - cacheReadTokens;
  return { ...ZERO_USAGE, inputTokens, cacheReadTokens, outputTokens: candidates, reasoningTokens };
}

/** Usage in the words of any of its versions. */
export function readAny(value: JsonValue | undefined): Usage | undefined {
  const usage = asCounts(value);
  if (usage === undefined || Object.keys(usage).length === 0) return undefined;
  const told = readCounts(usage);
  const { input = 0, output = 0, total } = told;
  const prompt = input + asCount(usage.toolUsePromptTokenCount);
  const cacheReadTokens = Math.min(prompt, asCount(usage.cachedContentTokenCount));
  const cachedAudio = audioTokens(usage.cacheTokensDetails);
  const inputAudioTokens = Math.min(
    prompt - cacheReadTokens,
    Math.max(0, audioTokens(usage.promptTokensDetails) - cachedAudio),
  );
  const reasoningTokens = asCount(usage.thoughtsTokenCount);
  const visible = visibleTokens(output, reasoningTokens, total - prompt);
  const outputAudioTokens = Math.min(visible, audioTokens(usage.candidatesTokensDetails));
  const decoded = {
    ...ZERO_USAGE,
    inputTokens: prompt - cacheReadTokens - inputAudioTokens,
    cacheReadTokens,
    inputAudioTokens,
    outputTokens: visible - outputAudioTokens,
    reasoningTokens,
    outputAudioTokens,
    ...tierOf(asString(usage.serviceTier)),
  };
  // Reasoning alone counts as reported output.
  return withUntold(decoded, { ...told, output: told.output ?? (reasoningTokens > 0 ? reasoningTokens : undefined) });
}

const tierOf = (tier: string | undefined): Pick<Usage, 'serviceTier'> =>
  tier === undefined || tier === 'standard' ? {} : { serviceTier: tier };

/**
 * Output without reasoning. The total resolves ambiguous counts: whether candidates include reasoning, and the visible
 * output if their count is missing.
 */
function visibleTokens(candidates: number, thoughts: number, totalOutput: number): number {
  if (thoughts > 0 && totalOutput === candidates && candidates >= thoughts) return candidates - thoughts;
  return candidates === 0 && thoughts > 0 ? Math.max(0, totalOutput - thoughts) : candidates;
}

function audioTokens(details: JsonValue | undefined): number {
  const audio = asObjects(details).filter((entry) => entry.modality === 'AUDIO');
  return audio.reduce((sum, entry) => sum + asCount(entry.tokenCount), 0);
}
