import { z } from '@hono/zod-openapi';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { parseUsd } from '@llm0/core/pricing/format-usd';
import type { PricedModel, TokenPrices } from '@llm0/core/pricing/price-book';
import type { StoredPrice } from '@llm0/drizzle/queries/routing/model-pricing';
import { count, instantShown, text } from '../fields/fields';
import { jsonUsd, plainDecimal } from '../fields/json-money';
import { showInstant } from '../fields/show-fields';

const CLASSES = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'reasoning',
  'input_audio',
  'output_audio',
] as const;
const VARIANTS = ['above_128k', 'above_200k', 'above_272k', 'priority', 'flex', 'batch', 'fast', 'ultrafast'] as const;
const SUFFIX = '_usd_per_million';
/** 1 USD a million tokens = 10^6 pico-USD a token = 10^9 nano-USD: 6 decimals of it are whole pico-USD. */
const NANO_USD_PER_PICO_PRICE = 1000;

/** USD per million tokens in → integer pico-USD per token. */
const price = z
  .union([z.number(), z.string()])
  .transform((value, context) => {
    const nanoUsd = parseUsd(plainDecimal(String(value)));
    if (nanoUsd !== undefined && nanoUsd >= 0 && nanoUsd % NANO_USD_PER_PICO_PRICE === 0) {
      return nanoUsd / NANO_USD_PER_PICO_PRICE;
    }
    const message = 'must be USD per million tokens from 0 to 9000000, at most 6 decimals';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .openapi({ type: 'number', minimum: 0, description: 'USD per million tokens, at most 6 decimals' });

const optionalPrice = price.nullish();

const variantFields = Object.fromEntries(
  CLASSES.flatMap((name) => VARIANTS.map((variant) => [`${name}_${variant}${SUFFIX}`, optionalPrice])),
);

export const modelBodySchema = z
  .strictObject({
    ...variantFields,
    input_usd_per_million: price,
    output_usd_per_million: optionalPrice,
    cache_read_usd_per_million: optionalPrice,
    cache_write_usd_per_million: optionalPrice,
    cache_write_1h_usd_per_million: optionalPrice,
    reasoning_usd_per_million: optionalPrice,
    input_audio_usd_per_million: optionalPrice,
    output_audio_usd_per_million: optionalPrice,
    context_window: count().nullish().openapi({ description: 'Unchanged if omitted' }),
    max_output_tokens: count().nullish().openapi({ description: 'Unchanged if omitted' }),
    mode: z.enum(['chat', 'responses', 'embedding', 'completion']).optional(),
    capabilities: z.array(text(100)).max(100).optional(),
  })
  .openapi('ModelPrices');

export const modelChangesSchema = modelBodySchema.partial().openapi('ModelChanges');

export const modelSchema = z
  .object({
    provider: z.string(),
    model: z.string(),
    mode: z.string(),
    input_usd_per_million: z.number().nullable(),
    output_usd_per_million: z.number().nullable(),
    cache_read_usd_per_million: z.number().nullable(),
    cache_write_usd_per_million: z.number().nullable(),
    reasoning_usd_per_million: z.number().nullable(),
    context_window: z.int().nullable(),
    max_output_tokens: z.int().nullable(),
    capabilities: z.array(z.string()),
    deprecation_date: z.string().nullable(),
    source: z.string().nullable(),
    edited: z.boolean().openapi({ description: "Set by an operator; newer shipped prices don't replace it" }),
    updated_at: instantShown,
  })
  .catchall(z.union([z.number(), z.string(), z.boolean(), z.null(), z.array(z.string())]))
  .openapi('Model', { description: 'Further classes and variants appear as `<class>_usd_per_million`' });

type ModelBody = Partial<z.output<typeof modelBodySchema>>;

/** Merges changes into the stored price, as a full body. */
export function withPrices({ prices }: StoredPrice, changes: ModelBody): ModelBody {
  const stored = Object.entries(prices).map(([name, pico]) => [`${name}${SUFFIX}`, pico]);
  return { ...Object.fromEntries(stored), ...changes };
}

/** Replaces all prices; missing descriptive fields stay. Throws for a missing price. */
export function toPricedModel(
  at: { provider: string; model: string },
  body: ModelBody,
  existing: StoredPrice | null,
): PricedModel {
  const keep = <T>(sent: T | null | undefined, stored: T | undefined) =>
    sent === undefined ? stored : (sent ?? undefined);
  return {
    ...at,
    mode: body.mode ?? existing?.mode ?? 'chat',
    prices: toPrices(body),
    contextWindow: keep(body.context_window, existing?.contextWindow),
    maxOutputTokens: keep(body.max_output_tokens, existing?.maxOutputTokens),
    capabilities: body.capabilities ?? existing?.capabilities ?? [],
    deprecationDate: existing?.deprecationDate,
    source: 'operator',
  };
}

/** Embeddings have no output; everywhere else a missing price would be billed at nothing. */
export function refuseWithoutOutput(priced: ReturnType<typeof toPricedModel>) {
  if (priced.prices.output !== undefined || priced.mode === 'embedding') return priced;
  throw new GatewayError('invalid_request', 'output_usd_per_million: is required.', {
    param: 'output_usd_per_million',
  });
}

function toPrices(body: ModelBody): TokenPrices {
  const prices: Record<string, number> = {};
  for (const [field, value] of Object.entries(body)) {
    if (field.endsWith(SUFFIX) && typeof value === 'number') prices[field.slice(0, -SUFFIX.length)] = value;
  }
  return prices;
}

const showPrice = (pico: number | undefined) => (pico === undefined ? null : jsonUsd(pico * NANO_USD_PER_PICO_PRICE));

export function showModel(stored: StoredPrice): z.output<typeof modelSchema> {
  const { prices } = stored;
  const further: Record<string, number> = {};
  for (const [name, pico] of Object.entries(prices)) {
    if (pico !== undefined) further[`${name}${SUFFIX}`] = jsonUsd(pico * NANO_USD_PER_PICO_PRICE);
  }
  return {
    ...further,
    provider: stored.provider,
    model: stored.model,
    mode: stored.mode,
    input_usd_per_million: showPrice(prices.input),
    output_usd_per_million: showPrice(prices.output),
    cache_read_usd_per_million: showPrice(prices.cache_read),
    cache_write_usd_per_million: showPrice(prices.cache_write),
    reasoning_usd_per_million: showPrice(prices.reasoning),
    context_window: stored.contextWindow ?? null,
    max_output_tokens: stored.maxOutputTokens ?? null,
    capabilities: [...stored.capabilities],
    deprecation_date: stored.deprecationDate ?? null,
    source: stored.source ?? null,
    edited: stored.edited,
    updated_at: showInstant(stored.updatedAtMs),
  };
}
