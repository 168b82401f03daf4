import { binValueMs, type Histogram } from '@llm0/core/logs/histogram';
import { showMs } from '../fields/show-fields';
import type { HistogramShown } from './histogram-schema';

/** Bins of the roll-ups that are shown as one: each is then about a third wider than the one before. */
const BINS_SHOWN_AS_ONE = 8;

export function showHistogram(histogram: Histogram): HistogramShown {
  const merged = new Map<number, number>();
  let requests = 0;
  for (const [bin, count] of histogram) {
    const shown = Math.floor(bin / BINS_SHOWN_AS_ONE);
    merged.set(shown, (merged.get(shown) ?? 0) + count);
    requests += count;
  }
  const bins = [...merged]
    .sort(([a], [b]) => a - b)
    .map(([shown, count]) => ({
      from_ms: showMs(binValueMs(shown * BINS_SHOWN_AS_ONE)),
      to_ms: showMs(binValueMs((shown + 1) * BINS_SHOWN_AS_ONE)),
      requests: count,
    }));
  return { requests, bins };
}
