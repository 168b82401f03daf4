import { formatChange, formatCompact, formatCount, formatMs, formatMsShort, formatShare } from './format-number';
import { formatUsd, formatUsdShort } from './format-usd';

interface Format {
  /** Exact, for tables and tool-tips. */
  readonly full: (value: number) => string;
  /** For axes. */
  readonly short: (value: number) => string;
}

/** Format of each kind of number. */
export const UNITS = {
  count: { full: formatCount, short: formatCompact },
  compact: { full: formatCompact, short: formatCompact },
  usd: { full: formatUsd, short: formatUsdShort },
  ms: { full: formatMs, short: formatMsShort },
  share: { full: (value) => formatShare(value), short: (value) => formatShare(value, 0) },
  perSecond: { full: (value) => formatCount(Math.round(value)), short: formatCompact },
  similarity: { full: (value) => value.toFixed(4), short: formatCompact },
  /** USD of a million tokens: three decimals at least. */
  price: { full: (usd) => `$${usd.toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1')}`, short: formatUsdShort },
  change: { full: formatChange, short: formatChange },
} as const satisfies Record<string, Format>;

export type Unit = keyof typeof UNITS;
