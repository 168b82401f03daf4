import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { completionTokens, promptTokens, type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { asCounts } from './read-json';

/** Names of token counts at vendors and compatible servers, by side. */
const INPUT = [
  ...['prompt_tokens', 'input_tokens', 'promptTokens', 'inputTokens', 'promptTokenCount', 'prompt_token_count'],
  ...['inputTokenCount', 'input_token_count', 'prompt_eval_count'],
] as const;
const OUTPUT = [
  ...['completion_tokens', 'output_tokens', 'completionTokens', 'outputTokens', 'candidatesTokenCount'],
  ...['candidates_token_count', 'outputTokenCount', 'output_token_count', 'generated_tokens', 'eval_count'],
] as const;
const TOTAL = ['total_tokens', 'totalTokens', 'totalTokenCount', 'total_token_count'] as const;

/** Counts by side; undefined if missing. */
export interface ToldCounts {
  readonly input: number | undefined;
  readonly output: number | undefined;
  /** 0 if missing. */
  readonly total: number;
}

/** Reads counts under any vendor's names; the largest of duplicates counts. */
export function readCounts(usage: JsonObject): ToldCounts {
  return { input: largest(usage, INPUT), output: largest(usage, OUTPUT), total: largest(usage, TOTAL) ?? 0 };
}

function largest(usage: JsonObject, names: readonly string[]): number | undefined {
  let most: number | undefined;
  for (const name of names) {
    const value = usage[name];
    if (typeof value === 'number' && (most === undefined || value > most)) most = value;
  }
  return most;
}

/** Marks the gaps of usage: a missing side, and tokens that only the total includes. */
export function withUntold(usage: Usage, { input, output, total }: ToldCounts): Usage {
  const rest = total - promptTokens(usage) - completionTokens(usage);
  if (input !== undefined && output !== undefined) {
    return rest <= 0 ? usage : { ...usage, outputTokens: usage.outputTokens + rest, estimated: true };
  }
  if (input === undefined && output === undefined) return { ...usage, untold: 'both', totalTokens: total };
  // A total equal to the other side's count means zero on this side.
  if (rest === 0) return usage;
  const more = Math.max(0, rest);
  if (input === undefined) return { ...usage, inputTokens: usage.inputTokens + more, untold: 'input' };
  return { ...usage, outputTokens: usage.outputTokens + more, untold: 'output' };
}

/** Usage without output: embeddings. */
export function readInputUsage(value: JsonValue | undefined): Usage | undefined {
  const { input = 0, total } = readCounts(asCounts(value) ?? {});
  const inputTokens = Math.max(input, total);
  return inputTokens === 0 ? undefined : { ...ZERO_USAGE, inputTokens };
}
