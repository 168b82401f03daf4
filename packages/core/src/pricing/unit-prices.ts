import { completionTokens, promptTokens, type Units, type Usage } from '../chat/usage';
import { CLASSES, hasPrice, namedPrice, type PriceContext, TOKENS_OF } from './class-prices';
import type { TokenPrices } from './price-book';

/** Unit → its price. The first three measure what tokens measure too. */
const UNIT_PRICES = {
  images: 'image',
  seconds: 'second',
  characters: 'character',
  pages: 'page',
  searches: 'search',
  sessionSeconds: 'session_second',
} as const satisfies Readonly<Record<keyof Units, string>>;

/** Prices that aren't per token; also `image_<quality>_<size>`. */
const PER_UNIT: ReadonlySet<string> = new Set(['image', 'second', 'minute', 'page', 'search', 'session_second']);
export const isUnitPrice = (name: string): boolean => PER_UNIT.has(name) || name.startsWith('image_');
/** A share, not a price. */
export const DISCOUNT = 'batch_discount';

export type UnitName = keyof Units;
const UNIT_NAMES = Object.keys(UNIT_PRICES) as UnitName[];
/** Billed only if nothing is billed by token. */
const MEASURES: ReadonlySet<UnitName> = new Set(['images', 'seconds', 'characters']);

const SECONDS_A_MINUTE = 60;

/** Integer pico-USD of 60 units, because minutes have prices too; undefined without a price. `imageVariant`: see `Usage`. */
function priceOfSixty(
  prices: TokenPrices,
  unit: UnitName,
  context: PriceContext & Pick<Usage, 'imageVariant'>,
): number | undefined {
  const name = UNIT_PRICES[unit];
  const { imageVariant } = context;
  const names = unit === 'images' && imageVariant !== undefined ? [`image_${imageVariant}`, name] : [name];
  const pico = namedPrice(prices, names, context);
  if (pico !== undefined) return SECONDS_A_MINUTE * pico;
  return unit === 'seconds' ? namedPrice(prices, ['minute'], context) : undefined;
}

/** Units in a price: a thousandth of one unit × the price of sixty. */
export const PARTS_A_UNIT = 1000 * SECONDS_A_MINUTE;

/** Rounded up. A product such as 2079.309 × 1000 is off by a few bits of its fraction. */
const thousandths = (count: number): number => Math.ceil(Number((count * 1000).toFixed(3)));

/** What is billed by unit. */
export interface BilledUnits {
  /** Integers whose product, divided by `PARTS_A_UNIT`, is pico-USD. */
  readonly parts: readonly (readonly [thousandths: number, picoOfSixty: number])[];
  /** True if anything used has no price. */
  readonly isUnpriced: boolean;
}

/** Units with their prices, and whether tokens or units lack one. */
export function billUnits(usage: Usage, prices: TokenPrices, context: PriceContext): BilledUnits {
  const areTokensPriced = CLASSES.every((name) => (usage[TOKENS_OF[name]] ?? 0) === 0 || hasPrice(prices, name));
  const isByToken = areTokensPriced && promptTokens(usage) + completionTokens(usage) > 0;
  const parts: [number, number][] = [];
  let isUnpriced = false;
  let isMeasured = false;
  for (const unit of UNIT_NAMES) {
    const count = usage.units?.[unit] ?? 0;
    if (count === 0 || (isByToken && MEASURES.has(unit))) continue;
    const pico = priceOfSixty(prices, unit, { ...context, imageVariant: usage.imageVariant });
    if (pico === undefined) {
      isUnpriced = true;
      continue;
    }
    isMeasured ||= MEASURES.has(unit);
    parts.push([thousandths(count), pico]);
  }
  return { parts, isUnpriced: isUnpriced || !(areTokensPriced || isMeasured) };
}
