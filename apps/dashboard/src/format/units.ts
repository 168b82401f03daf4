import {
  formatChange,
  formatCompact,
  formatCount,
  formatEstimate,
  formatMs,
  formatMsShort,
  formatShare,
} from './format-number';
import { formatBeside, formatUsd, formatUsdExact, formatUsdShort } from './format-usd';

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
  /** USD of one request, call, run or batch: its list shows what its panel shows. */
  cost: { full: formatUsd, short: formatUsdShort },
  ms: { full: formatMs, short: formatMsShort },
  /** Percentiles of durations: from bins. */
  percentile: { full: formatEstimate, short: formatMsShort },
  share: { full: (value) => formatShare(value), short: (value) => formatShare(value, 0) },
  perSecond: { full: (value) => formatCount(Math.round(value)), short: formatCompact },
  similarity: { full: (value) => value.toFixed(4), short: formatCompact },
  /** USD that somebody set: exact. */
  price: { full: formatUsdExact, short: formatUsdShort },
  change: { full: formatChange, short: formatChange },
} as const satisfies Record<string, Format>;

export type Unit = keyof typeof UNITS;

/** Format of values beside each other: sums of money have equal decimals. */
export const formatOf = (unit: Unit, values: readonly (number | null)[]): Format['full'] =>
  unit === 'usd' ? formatBeside(values.map((value) => value ?? 0)) : UNITS[unit].full;
