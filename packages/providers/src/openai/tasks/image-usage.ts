import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { readCounts, withUntold } from '../../translation/read-counts';
import { asCount, asCounts, asObject, asString } from '../../translation/read-json';

/**
 * Usage of images in disjoint classes; undefined where nothing was reported. Output that isn't split is image output.
 * Source: https://platform.openai.com/docs/api-reference/images/object
 */
export function readImageUsage(value: JsonValue | undefined, svg?: JsonValue): Usage | undefined {
  const usage = asCounts(value);
  const helper = readDrawing(svg ?? usage?.svg_usage);
  if (usage === undefined) return helper && { ...ZERO_USAGE, helper, untold: 'both' };
  const told = readCounts(usage);
  const { input = 0, output = 0 } = told;
  const into = asObject(usage.input_tokens_details) ?? asObject(usage.prompt_tokens_details) ?? {};
  const out = asObject(usage.output_tokens_details) ?? asObject(usage.completion_tokens_details) ?? {};
  const pictures = Math.min(input, tokensOf(into, 'image'));
  const cached = readCached(into, { text: input - pictures, image: pictures });
  const text = Math.min(output, tokensOf(out, 'text'));
  const reasoning = Math.min(output - text, asCount(out.reasoning_tokens));
  const decoded: Usage = {
    ...ZERO_USAGE,
    inputTokens: input - pictures - cached.text,
    cacheReadTokens: cached.text,
    outputTokens: text,
    reasoningTokens: reasoning,
    inputImageTokens: pictures - cached.image,
    ...(cached.image === 0 ? {} : { cacheReadImageTokens: cached.image }),
    outputImageTokens: output - text - reasoning,
    ...(helper === undefined ? {} : { helper }),
  };
  return withUntold(decoded, { ...told, total: helper === undefined ? told.total : 0 });
}

/** The text model that writes an SVG: its output includes reasoning. */
function readDrawing(value: JsonValue | undefined): Usage['helper'] {
  const told = asCounts(value);
  if (told === undefined) return undefined;
  const into = asObject(told.input_tokens_details) ?? {};
  const out = asObject(told.output_tokens_details) ?? {};
  const input = asCount(told.input_tokens);
  const cacheReadTokens = Math.min(input, asCount(into.cached_tokens));
  const reasoningTokens = asCount(told.reasoning_tokens ?? out.reasoning_tokens);
  const outputTokens = Math.max(0, asCount(told.output_tokens) - reasoningTokens);
  const usage = { ...ZERO_USAGE, inputTokens: input - cacheReadTokens, cacheReadTokens, outputTokens, reasoningTokens };
  return { model: asString(told.model), usage };
}

const tokensOf = (details: JsonObject, kind: 'image' | 'text') => asCount(details[`${kind}_tokens`] ?? details[kind]);

interface ByKind {
  readonly text: number;
  readonly image: number;
}

/** Without details, text counts as cached first: it is the smaller discount. */
function readCached(into: JsonObject, most: ByKind): ByKind {
  const total = asCount(into.cached_tokens ?? into.cached);
  const details = asObject(into.cached_tokens_details);
  const image = details === undefined ? Math.max(0, total - most.text) : tokensOf(details, 'image');
  const text = details === undefined ? total : tokensOf(details, 'text');
  return { text: Math.min(most.text, text), image: Math.min(most.image, image) };
}
