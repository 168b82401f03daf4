import type { Metric } from '../../api/stats';
import type { Region } from '../../charts/durations/prepare-heat-map';
import { dropUndefined, textLike } from '../../range/page-search';
import type { TimeRange } from '../../range/time-range';

const REGION =
  /^([a-z]{1,10})_(\d{1,15}(?:\.\d{1,9})?)_(\d{1,15}(?:\.\d{1,9})?)_(\d{1,15}(?:\.\d{1,9})?)_(\d{1,15}(?:\.\d{1,9})?)$/;

/** What the page keeps in the address besides what all pages keep. */
export interface LatencySearch {
  /** Selected region: duration, from, to (epoch milliseconds), shortest and longest (milliseconds). */
  readonly region?: string;
}

export const readLatencySearch = (search: Readonly<Record<string, unknown>>): LatencySearch =>
  dropUndefined({ region: textLike((given) => REGION.test(given))(search.region) });

export const writeRegion = (metric: Metric, { fromMs, toMs, minMs, maxMs }: Region): string =>
  [metric, fromMs, toMs, minMs, maxMs].join('_');

/** Null for a region of another duration, or beyond the range. */
export function readRegion(
  { region = '' }: LatencySearch,
  shown: { readonly metric: Metric; readonly range: Pick<TimeRange, 'fromMs' | 'toMs'> },
): Region | null {
  const [, metric, ...numbers] = REGION.exec(region) ?? [];
  const [fromMs = 0, toMs = 0, minMs = 0, maxMs = 0] = numbers.map(Number);
  const isShown = metric === shown.metric && fromMs < shown.range.toMs && toMs > shown.range.fromMs;
  return isShown && fromMs < toMs && minMs < maxMs ? { fromMs, toMs, minMs, maxMs } : null;
}
