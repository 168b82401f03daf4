import { MODES, missingPrice } from '@llm0/core/pricing/price-book';
import { modeOfMap, readMapPrices } from '@llm0/core/pricing/price-map';
import type { Model, ModelImport } from '../../api/models';
import { countOf, formatCount } from '../../format/format-number';

/** A model's prices as the API takes them, with where they belong. */
export interface PriceImport {
  readonly provider: string;
  readonly model: string;
  readonly body: Record<string, string | number>;
}

/** An entry, or some prices of one, that has no place here. */
export interface LostPrice {
  /** As the file names it. */
  readonly model: string;
  readonly why: string;
}

/** Parsed price file. */
export interface PriceMap {
  readonly prices: readonly PriceImport[];
  readonly lost: readonly LostPrice[];
}

const LIMITS = { max_input_tokens: 'context_window', max_output_tokens: 'max_output_tokens' } as const;

/**
 * Parses a price map like LiteLLM's `model_prices_and_context_window.json` into prices, and what has no place here. Throws
 * for any other text.
 */
export function readPriceMap(text: string): PriceMap {
  const map: unknown = JSON.parse(text);
  if (typeof map !== 'object' || map === null || Array.isArray(map))
    throw new Error('This file is not a map of model names to prices.');
  const prices: PriceImport[] = [];
  const lost: LostPrice[] = [];
  for (const [model, entry] of Object.entries(map)) {
    if (model === 'sample_spec') continue;
    const read = readEntry(model, entry);
    if (read.price !== undefined) prices.push(read.price);
    if (read.why !== undefined) lost.push({ model, why: read.why });
  }
  return { prices, lost };
}

interface ReadEntry {
  readonly price?: PriceImport;
  readonly why?: string;
}

function readEntry(name: string, entry: unknown): ReadEntry {
  if (typeof entry !== 'object' || entry === null) return { why: 'is no entry' };
  const given = entry as Record<string, unknown>;
  const provider = given.litellm_provider ?? given.provider;
  if (typeof provider !== 'string') return { why: 'names no provider' };
  const mode = modeOfMap(typeof given.mode === 'string' ? given.mode : 'chat');
  if (!MODES.some((one) => one === mode)) return { why: `is for ${mode}, which the gateway has not` };
  const { fields, lost } = readMapPrices(given);
  const why = lost.length === 0 ? undefined : `loses ${lost.join(', ')}`;
  const missing = missingPrice(mode, (field) => fields[field] !== undefined);
  if (missing !== undefined) return { why: `has no ${missing}${lost.length === 0 ? '' : `; ${why}`}` };
  if (Object.keys(fields).length === 0) return { why: why ?? 'has no price' };
  const body: Record<string, string | number> = { ...fields, ...(mode === 'chat' ? {} : { mode }) };
  for (const [from, to] of Object.entries(LIMITS)) {
    const value = given[from];
    if (Number.isInteger(value)) body[to] = Number(value);
  }
  const prefix = `${provider}/`;
  const model = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  return { price: { provider, model, body }, ...(why === undefined ? {} : { why }) };
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
export const describeImport = (outcome: Outcome | undefined): string =>
  outcome === undefined
    ? 'Comparing with the current prices'
    : `${formatCount(outcome.created)} new, ${formatCount(outcome.updated)} changed, ${formatCount(outcome.unchanged)} unchanged.`;

/** Heading of what an import loses; null if it takes everything. */
export const describeLost = ({ lost }: Pick<PriceMap, 'lost'>): string | null =>
  lost.length === 0 ? null : `${countOf(lost.length, 'entry', 'entries')} with prices that the gateway can't hold`;

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

/** Who set a price, and where it was read. */
export function describeSource({ edited, source }: Pick<Model, 'edited' | 'source'>): string {
  if (edited) return 'Set by an operator';
  return URL.canParse(source ?? '') ? `Shipped with the gateway, as read from ${source}` : 'Shipped with the gateway';
}
