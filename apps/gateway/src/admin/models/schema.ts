import { z } from '@hono/zod-openapi';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import { parseUsd } from '@llm0/core/pricing/format-usd';
import { MODES, missingPrice, type PricedModel, type TokenPrices, usualMode } from '@llm0/core/pricing/price-book';
import { DISCOUNT, isUnitPrice } from '@llm0/core/pricing/unit-prices';
import type { StoredPrice } from '@llm0/drizzle/queries/routing/model-pricing';
import { count, instantShown, text } from '../fields/fields';
import { jsonPicoUsd, jsonUsd, plainDecimal } from '../fields/json-money';
import { showInstant } from '../fields/show-fields';

const CLASSES = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'reasoning',
  'input_audio',
  'cache_read_audio',
  'output_audio',
  'input_image',
  'cache_read_image',
  'output_image',
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

const OR_NULL = { type: ['number', 'null'] } as { type: ['number', 'null'] };
const optionalPrice = price.nullish().openapi(OR_NULL);

/** Prices of seconds need more decimals than amounts. */
const UNIT_PRICE = /^(\d{1,3})(?:\.(\d{1,12}))?$/;

/** USD in → integer pico-USD per unit. */
const unitPrice = z
  .union([z.number(), z.string()])
  .transform((value, context) => {
    const [, whole, fraction = ''] = UNIT_PRICE.exec(plainDecimal(String(value))) ?? [];
    if (whole !== undefined) return Number(`${whole}${fraction.padEnd(12, '0')}`);
    context.addIssue({ code: 'custom', message: 'must be USD per unit from 0 to 999, at most 12 decimals' });
    return z.NEVER;
  })
  .openapi({ type: 'number', minimum: 0, maximum: 999, description: 'USD per unit, at most 12 decimals' });
const optionalUnitPrice = unitPrice.nullish().openapi(OR_NULL);

const imageSizeSchema = z.strictObject({
  quality: z.string().regex(/^[a-z0-9.-]{1,20}$/, 'must be a quality, such as high'),
  size: z.string().regex(/^[a-z0-9]{1,20}$/, 'must be a size, such as 1024x1024'),
  image_usd: unitPrice,
});

const MILLION = 1_000_000;
/** Share taken off → whole parts per million. */
const discount = z
  .number()
  .min(0)
  .max(1)
  .transform((share) => Math.round(share * MILLION))
  .openapi({ type: 'number', description: 'Share that batches take off; 0.5 is half' });

const variantFields = Object.fromEntries(
  CLASSES.flatMap((name) => VARIANTS.map((variant) => [`${name}_${variant}${SUFFIX}`, optionalPrice])),
);

export const modelBodySchema = z
  .strictObject({
    ...variantFields,
    input_usd_per_million: optionalPrice,
    output_usd_per_million: optionalPrice,
    cache_read_usd_per_million: optionalPrice,
    cache_write_usd_per_million: optionalPrice,
    cache_write_1h_usd_per_million: optionalPrice,
    reasoning_usd_per_million: optionalPrice,
    input_audio_usd_per_million: optionalPrice,
    cache_read_audio_usd_per_million: optionalPrice,
    output_audio_usd_per_million: optionalPrice,
    input_image_usd_per_million: optionalPrice,
    cache_read_image_usd_per_million: optionalPrice,
    output_image_usd_per_million: optionalPrice,
    character_usd_per_million: optionalPrice,
    image_usd: optionalUnitPrice,
    second_usd: optionalUnitPrice,
    minute_usd: optionalUnitPrice,
    page_usd: optionalUnitPrice,
    search_usd: optionalUnitPrice,
    session_second_usd: optionalUnitPrice,
    image_sizes: z
      .array(imageSizeSchema)
      .max(100)
      .nullish()
      .openapi({ description: 'Prices of single sizes; `image_usd` is for the others' }),
    batch_discount: discount.nullish(),
    context_window: count().nullish().openapi({ description: 'Unchanged if omitted' }),
    max_output_tokens: count().nullish().openapi({ description: 'Unchanged if omitted' }),
    mode: z.enum(MODES).optional(),
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
  .extend({
    image_sizes: z.array(z.object({ quality: z.string(), size: z.string(), image_usd: z.number() })).optional(),
    batch_discount: z.number().optional(),
  })
  .catchall(z.union([z.number(), z.string(), z.boolean(), z.null(), z.array(z.string())]))
  .openapi('Model', {
    description: 'Further classes and variants appear as `<class>_usd_per_million`, units as `<unit>_usd`',
  });

type ModelBody = Partial<z.output<typeof modelBodySchema>>;

/** Merges changes into the stored price, as a full body. */
export function withPrices({ prices }: StoredPrice, changes: ModelBody): ModelBody {
  return { ...bodyOf(prices), ...changes };
}

const IMAGE_SIZE = /^image_([^_]+)_([^_]+)$/;
const UNIT_SUFFIX = '_usd';
const fieldOf = (name: string) => (name === DISCOUNT ? name : `${name}${isUnitPrice(name) ? UNIT_SUFFIX : SUFFIX}`);

/** Stored prices by their fields. */
function bodyOf(prices: TokenPrices): ModelBody {
  const body: Record<string, number> = {};
  const sizes: z.output<typeof imageSizeSchema>[] = [];
  for (const [name, pico] of Object.entries(prices)) {
    const [, quality, size] = IMAGE_SIZE.exec(name) ?? [];
    if (pico === undefined) continue;
    if (quality !== undefined && size !== undefined) sizes.push({ quality, size, image_usd: pico });
    else body[fieldOf(name)] = pico;
  }
  return sizes.length === 0 ? body : { ...body, image_sizes: sizes };
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
    mode: body.mode ?? existing?.mode ?? usualMode(Object.keys(toPrices(body))),
    prices: toPrices(body),
    contextWindow: keep(body.context_window, existing?.contextWindow),
    maxOutputTokens: keep(body.max_output_tokens, existing?.maxOutputTokens),
    capabilities: body.capabilities ?? existing?.capabilities ?? [],
    deprecationDate: existing?.deprecationDate,
    source: 'operator',
  };
}

/** Throws for a missing price. Models of other modes have at least one. */
export function refuseUnpriced(priced: ReturnType<typeof toPricedModel>) {
  const { mode, prices } = priced;
  const field = missingPrice(mode, (one) => prices[one.slice(0, -SUFFIX.length)] !== undefined);
  if (field !== undefined) throw invalidRequest(field, `${field}: is required.`);
  if (Object.keys(prices).some((name) => name !== DISCOUNT)) return priced;
  throw invalidRequest('mode', `mode: a model for ${mode} needs a price, such as image_usd or minute_usd.`);
}

function toPrices(body: ModelBody): TokenPrices {
  const prices: Record<string, number> = {};
  const { image_sizes: sizes, ...fields } = body;
  for (const [field, value] of Object.entries(fields)) {
    const suffix = [SUFFIX, UNIT_SUFFIX].find((one) => field.endsWith(one));
    if (typeof value !== 'number' || (suffix === undefined && field !== DISCOUNT)) continue;
    prices[suffix === undefined ? field : field.slice(0, -suffix.length)] = value;
  }
  for (const { quality, size, image_usd: pico } of sizes ?? []) prices[`image_${quality}_${size}`] = pico;
  return prices;
}

const showPrice = (pico: number | undefined) => (pico === undefined ? null : jsonUsd(pico * NANO_USD_PER_PICO_PRICE));
function showFurther(prices: TokenPrices): Record<string, unknown> {
  const { image_sizes: sizes, batch_discount: parts, ...fields } = bodyOf(prices);
  const shown: Record<string, unknown> = {};
  for (const [field, pico] of Object.entries(fields)) {
    if (typeof pico === 'number') shown[field] = field.endsWith(UNIT_SUFFIX) ? jsonPicoUsd(pico) : showPrice(pico);
  }
  if (parts != null) shown.batch_discount = parts / MILLION;
  if (sizes != null) shown.image_sizes = sizes.map((one) => ({ ...one, image_usd: jsonPicoUsd(one.image_usd) }));
  return shown;
}

export function showModel(stored: StoredPrice): z.output<typeof modelSchema> {
  const { prices } = stored;
  return {
    ...showFurther(prices),
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
