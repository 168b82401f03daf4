import { binStartMs, type Histogram, histogramCount } from '@llm0/core/logs/histogram';
import type { DurationCounts } from '@llm0/drizzle/queries/stats/read/load-stats';
import { showInstant } from '../fields/show-fields';
import type { HistogramShown } from './histogram-schema';

/** Bins of the roll-ups that are shown as one: each is then about a third wider than the one before. */
const BINS_SHOWN_AS_ONE = 8;

export function showHistogram({ all, hits, buckets }: DurationCounts): HistogramShown {
  const [requests, cacheHits] = [widen(all), widen(hits)];
  const bins = [...requests.keys()].sort((a, b) => a - b);
  return {
    requests: histogramCount(all),
    bins: bins.map((bin) => ({
      from_ms: boundOf(bin),
      to_ms: boundOf(bin + 1),
      requests: requests.get(bin) ?? 0,
      cache_hits: cacheHits.get(bin) ?? 0,
    })),
    buckets: buckets.map(({ startMs, counts }) => {
      const own = widen(counts);
      return { start: showInstant(startMs), requests: bins.map((bin) => own.get(bin) ?? 0) };
    }),
  };
}

/** Six digits: bounds of microseconds stay apart. */
const boundOf = (bin: number) => Number(binStartMs(bin * BINS_SHOWN_AS_ONE).toPrecision(6));

function widen(histogram: Histogram): Histogram {
  const widened: Histogram = new Map();
  for (const [bin, count] of histogram) {
    const shown = Math.floor(bin / BINS_SHOWN_AS_ONE);
    widened.set(shown, (widened.get(shown) ?? 0) + count);
  }
  return widened;
}
