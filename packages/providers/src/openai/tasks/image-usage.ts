import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { readCounts, withUntold } from '../../translation/read-counts';
import { asCount, asCounts, asObject } from '../../translation/read-json';

/**
 * Usage of images in disjoint classes; undefined where nothing was reported. Output that isn't split is image output.
 * Source: https://platform.openai.com/docs/api-reference/images/object
 */
export function readImageUsage(value: JsonValue | undefined, svg?: JsonValue): Usage | undefined {
  const usage = asCounts(value);
  if (usage === undefined) return undefined;
  const told = readCounts(usage);
  const { input = 0, output = 0 } = told;
  const into = asObject(usage.input_tokens_details) ?? asObject(usage.prompt_tokens_details) ?? {};
  const out = asObject(usage.output_tokens_details) ?? asObject(usage.completion_tokens_details) ?? {};
  const pictures = Math.min(input, tokensOf(into, 'image'));
  const cached = readCached(into, { text: input - pictures, image: pictures });
  const text = Math.min(output, tokensOf(out, 'text'));
  const reasoning = Math.min(output - text, asCount(out.reasoning_tokens));
  const drawing = asObject(svg ?? usage.svg_usage) ?? {};
  // Output includes reasoning.
  const drawn = Math.max(asCount(drawing.output_tokens), asCount(drawing.reasoning_tokens));
  const asked = asCount(drawing.input_tokens);
  const decoded: Usage = {
    ...ZERO_USAGE,
    inputTokens: input - pictures - cached.text + asked,
    cacheReadTokens: cached.text,
    outputTokens: text,
    reasoningTokens: reasoning + drawn,
    inputImageTokens: pictures - cached.image,
    ...(cached.image === 0 ? {} : { cacheReadImageTokens: cached.image }),
    outputImageTokens: output - text - reasoning,
    // The drawing model has a price of its own, which the answer doesn't tell.
    ...(drawn + asked === 0 ? {} : { estimated: true }),
  };
  return withUntold(decoded, { ...told, total: drawn + asked === 0 ? told.total : 0 });
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
