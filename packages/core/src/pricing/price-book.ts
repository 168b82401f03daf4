/**
 * Integer pico-USD per token by class, and per unit. A class left out is billed at `input` or `output`; a unit left out has
 * no price.
 */
export interface TokenPrices {
  readonly input?: number;
  readonly output?: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly cache_write_1h?: number;
  readonly reasoning?: number;
  readonly input_audio?: number;
  readonly cache_read_audio?: number;
  readonly output_audio?: number;
  readonly input_image?: number;
  readonly cache_read_image?: number;
  readonly output_image?: number;
  /** Also `image_<quality>_<width>x<height>`. */
  readonly image?: number;
  readonly second?: number;
  /** Instead of `second`, for prices that seconds can't express exactly. */
  readonly minute?: number;
  readonly character?: number;
  readonly page?: number;
  readonly search?: number;
  readonly session_second?: number;
  /** Parts per million that batches take off a price without a `_batch` variant. */
  readonly batch_discount?: number;
  /** Variants: `<class>_above_128k|200k|272k` (whole request dearer past that many prompt tokens), `_priority`, `_flex`, `_batch`, `_fast`, `_ultrafast`. */
  readonly [variant: string]: number | undefined;
}

/** What a model is for. */
export const MODES = [
  ...(['chat', 'responses', 'embedding', 'completion', 'image', 'transcription', 'speech'] as const),
  ...(['moderation', 'rerank', 'realtime'] as const),
] as const;

/** Modes that are billed by token, and the prices they need. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  chat: ['input', 'output'],
  responses: ['input', 'output'],
  completion: ['input', 'output'],
  embedding: ['input'],
};

/** Field of a missing price, which would be billed at nothing; undefined where all are set. */
export function missingPrice(mode: string, hasPrice: (field: string) => boolean): string | undefined {
  const needed = NEEDED[mode] ?? [];
  return needed.map((name) => `${name}_usd_per_million`).find((field) => !hasPrice(field));
}

/** Price → the mode of a model that has it and no price for text. */
const MODE_BY_PRICE: readonly (readonly [price: RegExp, mode: (typeof MODES)[number]])[] = [
  [/^search$/, 'rerank'],
  [/^(?:image|image_.*|output_image)$/, 'image'],
  [/^character$/, 'speech'],
  [/^(?:second|minute)$/, 'transcription'],
  [/^session_second$/, 'realtime'],
];

/** Mode of a model of which nothing is known but its prices, by name or by field of the admin API. */
export function usualMode(prices: readonly string[]): (typeof MODES)[number] {
  const names = prices.map((field) => field.replace(/_usd(?:_per_million)?$/, ''));
  if (names.includes('output')) return 'chat';
  return MODE_BY_PRICE.find(([price]) => names.some((name) => price.test(name)))?.[1] ?? 'chat';
}

/** Everything of the model costs nothing, by an operator's word or on the operator's own machines. */
export const isFree = (prices: TokenPrices): boolean =>
  prices.input === 0 && prices.output === 0 && Object.values(prices).every((price) => price === 0);

/** A model's price and capabilities; rows of `model_pricing`. */
export interface PricedModel {
  readonly provider: string;
  readonly model: string;
  /** See `MODES`. */
  readonly mode: string;
  readonly prices: TokenPrices;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  readonly capabilities: readonly string[];
  readonly deprecationDate?: string;
  readonly source?: string;
  /** Time of the entry; absent for built-in ones. */
  readonly updatedAtMs?: number;
}

/** In-process look-up over all priced models; replaced as a whole when prices change. */
export interface PriceBook {
  find(provider: string, model: string): PricedModel | undefined;
  /** True for models with a row of their own (a free provider's unlisted ones have none). */
  isListed(provider: string, model: string): boolean;
  list(): readonly PricedModel[];
}

/** Prepared snapshots without a price of their own. */
const MOST_SNAPSHOTS = 1000;
/** The end of a dated snapshot's name. */
const DATE = /-(?:\d{4}-\d{2}-\d{2}|20\d{6})$/;

/**
 * Builds the look-up. `freeProviders` run on the operator's own machines: every model of theirs is priced 0,
 * whether listed or not. A dated snapshot without a price costs as the model that it is one of.
 */
export function createPriceBook(models: readonly PricedModel[], freeProviders: ReadonlySet<string>): PriceBook {
  const byName = new Map<string, PricedModel>();
  for (const model of models) byName.set(`${model.provider}/${model.model}`, model);
  const snapshots = new Map<string, PricedModel>();
  const findSnapshot = (provider: string, model: string): PricedModel | undefined => {
    const name = `${provider}/${model}`;
    const known = snapshots.get(name);
    if (known !== undefined || !DATE.test(model)) return known;
    const base = byName.get(name.replace(DATE, ''));
    if (base === undefined) return undefined;
    // Callers choose the dates.
    if (snapshots.size === MOST_SNAPSHOTS) snapshots.clear();
    const snapshot = asSnapshot(base, model);
    snapshots.set(name, snapshot);
    return snapshot;
  };
  return {
    find(provider, model) {
      const priced = byName.get(`${provider}/${model}`) ?? findSnapshot(provider, model);
      if (priced !== undefined) return priced;
      if (!freeProviders.has(provider)) return undefined;
      return { provider, model, mode: 'chat', prices: { input: 0, output: 0 }, capabilities: [] };
    },
    isListed: (provider, model) => byName.has(`${provider}/${model}`),
    list: () => models,
  };
}

/** It is retired on a day of its own. */
function asSnapshot({ deprecationDate: _base, ...priced }: PricedModel, model: string): PricedModel {
  return { ...priced, model };
}

/** Request and its target. */
interface Asked {
  readonly provider: string;
  readonly model: string;
}

/**
 * Billing price: that of the vendor's answering model if the price book has it, else that of the requested one. A price
 * from the operator stays, because a vendor may use another name.
 */
export function pricedAnswer(
  prices: PriceBook,
  { provider, model }: Asked,
  answeredBy: string | undefined,
): PricedModel | undefined {
  const asked = prices.find(provider, model);
  if (answeredBy === undefined || answeredBy === model || asked?.source === OPERATOR) return asked;
  return prices.isListed(provider, answeredBy) ? prices.find(provider, answeredBy) : asked;
}

/** `source` of prices that were set through the admin API. */
const OPERATOR = 'operator';
