import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { asCount, asCounts, asObject } from '../translation/read-json';

/**
 * Nano-USD per call beside the tokens: https://platform.claude.com/docs/en/about-claude/pricing (fetched content costs
 * tokens only), https://developers.openai.com/api/docs/pricing, https://docs.x.ai/docs/models.
 */
const FEES = { web_search: 10_000_000, web_fetch: 0, source: 25_000_000 } as const;
/** Model of a hosted image tool whose prices these are. */
export const IMAGE_TOOL_MODEL = 'gpt-image-2';
/** Nano-USD per token of the tool's image model; its text output has no listed price. */
const IMAGE_PRICES = { text: 5000, image: 8000, cachedText: 1250, cachedImage: 2000, output: 30_000 } as const;
/** More than any answer makes. */
const MOST_CALLS = 100_000;

type Calls = Readonly<Partial<Record<keyof typeof FEES, JsonValue | undefined>>>;

/** Fees of hosted tool calls, as a part of `Usage`; empty without calls. `more`: other fees. */
export function callFees(calls: Calls, more = 0): { readonly feeNanoUsd?: number } {
  let feeNanoUsd = more;
  for (const kind of Object.keys(FEES) as (keyof typeof FEES)[]) {
    feeNanoUsd += Math.min(MOST_CALLS, asCount(calls[kind])) * FEES[kind];
  }
  return feeNanoUsd === 0 ? {} : { feeNanoUsd };
}

/** Nano-USD for tokens of a hosted image tool, which the answer's usage excludes. */
export function imageToolFee(value: JsonValue | undefined): number {
  const used = asCounts(value);
  if (used === undefined) return 0;
  const details = asObject(used.input_tokens_details) ?? {};
  const cached = asObject(used.cached_tokens_details) ?? {};
  const image = asCount(details.image_tokens);
  // Tokens without a detail bill as images, the dearest kind.
  const text = Math.min(asCount(details.text_tokens), Math.max(0, asCount(used.input_tokens) - image));
  const images = Math.max(image, asCount(used.input_tokens) - text);
  const [cachedText, cachedImages] = [
    Math.min(text, asCount(cached.cached_text_tokens)),
    Math.min(images, asCount(cached.cached_image_tokens)),
  ];
  const output = Math.max(asCount(used.output_tokens), asCount(used.total_tokens) - text - images);
  return (
    (text - cachedText) * IMAGE_PRICES.text +
    (images - cachedImages) * IMAGE_PRICES.image +
    cachedText * IMAGE_PRICES.cachedText +
    cachedImages * IMAGE_PRICES.cachedImage +
    output * IMAGE_PRICES.output
  );
}

/**
 * Fees of the vendor's hosted tools, from its report. Source:
 * https://platform.openai.com/docs/api-reference/responses/object
 */
export function hostedToolFees(
  toolUsage: JsonValue | undefined,
  sources?: JsonValue,
): { readonly feeNanoUsd?: number } {
  const used: JsonObject = asObject(toolUsage) ?? {};
  return callFees(
    { web_search: asObject(used.web_search)?.num_requests, source: sources },
    imageToolFee(used.image_gen),
  );
}
