import type { Model, ModelImport } from '../../api/models';
import { formatCount } from '../../format/format-number';

/** A model's prices as the API takes them, with where they belong. */
export interface PriceImport {
  readonly provider: string;
  readonly model: string;
  readonly body: Record<string, string | number>;
}

/** Parsed price file. */
export interface PriceMap {
  readonly prices: readonly PriceImport[];
  /** Number of incomplete entries. */
  readonly skipped: number;
}

/** Field of LiteLLM's price map (USD per token) → ours (USD per million). */
const PRICES = {
  input_cost_per_token: 'input_usd_per_million',
  output_cost_per_token: 'output_usd_per_million',
  cache_read_input_token_cost: 'cache_read_usd_per_million',
  cache_creation_input_token_cost: 'cache_write_usd_per_million',
  output_cost_per_reasoning_token: 'reasoning_usd_per_million',
} as const;

const LIMITS = { max_input_tokens: 'context_window', max_output_tokens: 'max_output_tokens' } as const;

/** USD per token → USD per million tokens, with at most 6 decimals; exact for price lists. */
export function perMillion(usdPerToken: number): string {
  return (usdPerToken * 1e6).toFixed(6).replace(/\.?0+$/, '');
}

/**
 * Parses a price map like LiteLLM's `model_prices_and_context_window.json` into prices and incomplete entries. Throws
 * for any other text.
 */
export function readPriceMap(text: string): PriceMap {
  const map: unknown = JSON.parse(text);
  if (typeof map !== 'object' || map === null || Array.isArray(map))
    throw new Error('This file is not a map of model names to prices.');
  const prices: PriceImport[] = [];
  let skipped = 0;
  for (const [name, entry] of Object.entries(map)) {
    const price = name === 'sample_spec' ? undefined : readEntry(name, entry);
    if (price === undefined) skipped += 1;
    else prices.push(price);
  }
  return { prices, skipped };
}

function readEntry(name: string, entry: unknown): PriceImport | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const given = entry as Record<string, unknown>;
  const provider = given.litellm_provider ?? given.provider;
  if (typeof provider !== 'string' || typeof given.input_cost_per_token !== 'number') return undefined;
  if (typeof given.output_cost_per_token !== 'number') return undefined;
  const body: Record<string, string | number> = {};
  for (const [from, to] of Object.entries(PRICES)) {
    const value = given[from];
    if (typeof value === 'number' && value >= 0) body[to] = perMillion(value);
  }
  for (const [from, to] of Object.entries(LIMITS)) {
    const value = given[from];
    if (Number.isInteger(value)) body[to] = Number(value);
  }
  const prefix = `${provider}/`;
  return { provider, model: name.startsWith(prefix) ? name.slice(prefix.length) : name, body };
}

/** End of a vendor's support for a model: a UTC day, future or past. */
export const describeEnd = (day: string, nowMs: number): string =>
  `${Date.parse(day) < nowMs ? 'ended' : 'ends'} ${day}`;

/** The prices of one provider, or of all, as they are sent. */
export const toImport = ({ prices }: PriceMap, provider: string): ModelImport['models'] =>
  prices
    .filter((price) => provider === '' || price.provider === provider)
    .map(({ body, ...at }) => ({ ...at, ...body })) as ModelImport['models'];

type Outcome = Readonly<Record<'created' | 'updated' | 'unchanged', number>>;

/** Summary of an import; undefined while loading. */
export const describeImport = (outcome: Outcome | undefined, skipped: number): string =>
  outcome === undefined
    ? 'Comparing with the current prices'
    : `${formatCount(outcome.created)} new, ${formatCount(outcome.updated)} changed, ${formatCount(outcome.unchanged)} unchanged. ${formatCount(skipped)} entries in the file have no input or output price and are skipped.`;

/** Models of a provider (empty: all) with `q` in their names. */
export const findModels = <M extends Pick<Model, 'provider' | 'model'>>(
  models: readonly M[],
  { provider, q }: { provider: string; q: string },
): M[] =>
  models.filter(
    (model) =>
      (provider === '' || model.provider === provider) &&
      `${model.provider}/${model.model}`.toLowerCase().includes(q.toLowerCase()),
  );
