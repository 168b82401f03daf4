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
 * The vendor's overlapping counts → disjoint classes; undefined when nothing was reported. `hasImages`: of an answer with
 * images. Source: https://ai.google.dev/api/generate-content#UsageMetadata
 */
export function decodeUsage(value: JsonValue | undefined, hasImages = false): Usage | undefined {
  return (hasImages ? undefined : readUsual(value)) ?? readAny(value, hasImages);
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

/** Usage in the words of any of its versions. `hasImages`: output that isn't split is image output. */
export function readAny(value: JsonValue | undefined, hasImages = false): Usage | undefined {
  const usage = asCounts(value);
  if (usage === undefined || Object.keys(usage).length === 0) return undefined;
  const told = readCounts(usage);
  const { input = 0, output = 0, total } = told;
  const prompt = input + asCount(usage.toolUsePromptTokenCount);
  const cacheReadTokens = Math.min(prompt, asCount(usage.cachedContentTokenCount));
  const { promptTokensDetails: sent, cacheTokensDetails: cached, candidatesTokensDetails: made } = usage;
  const uncached = (kind: Modality, most: number) =>
    Math.min(most, Math.max(0, tokensOf(sent, kind) - tokensOf(cached, kind)));
  const inputAudioTokens = uncached('AUDIO', prompt - cacheReadTokens);
  const inputImageTokens = uncached('IMAGE', prompt - cacheReadTokens - inputAudioTokens);
  const reasoningTokens = asCount(usage.thoughtsTokenCount);
  const visible = visibleTokens(output, reasoningTokens, total - prompt);
  const outputAudioTokens = Math.min(visible, tokensOf(made, 'AUDIO'));
  const unheard = visible - outputAudioTokens;
  const isDrawn = hasImages || tokensOf(made, 'IMAGE') > 0;
  const outputTokens = isDrawn ? Math.min(unheard, tokensOf(made, 'TEXT')) : unheard;
  const decoded = {
    ...ZERO_USAGE,
    inputTokens: prompt - cacheReadTokens - inputAudioTokens - inputImageTokens,
    cacheReadTokens,
    inputAudioTokens,
    outputTokens,
    reasoningTokens,
    outputAudioTokens,
    ...(inputImageTokens === 0 ? {} : { inputImageTokens }),
    ...(isDrawn ? { outputImageTokens: unheard - outputTokens } : {}),
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

type Modality = 'TEXT' | 'AUDIO' | 'IMAGE';

const tokensOf = (details: JsonValue | undefined, kind: Modality): number =>
  asObjects(details).reduce((sum, one) => sum + (one.modality === kind ? asCount(one.tokenCount) : 0), 0);
