import type { Stretch } from '../stats/read/read-days';
import type { StatsSegment } from '../stats/read/time-segments';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Remaining data of a month's edges. */
export interface Kept {
  /** Rows since then are there, or nothing was before. */
  readonly rowsFromMs: number;
  /** UTC days that only the roll-up of days knows. */
  readonly lostDays: ReadonlySet<number>;
}

export interface MonthSegments {
  readonly segments: readonly StatsSegment[];
  /** True if some edges cover whole UTC days or hours because finer data was deleted. */
  readonly isRounded: boolean;
}

const floorTo = (ms: number, sizeMs: number) => Math.floor(ms / sizeMs) * sizeMs;
const ceilTo = (ms: number, sizeMs: number) => Math.ceil(ms / sizeMs) * sizeMs;
const nearest = (ms: number, sizeMs: number) => Math.round(ms / sizeMs) * sizeMs;

/**
 * A month of any zone in full UTC days from `source`; its edges by hours, where those roll-ups know them, and parts of hours
 * from rows. `hours: false`: edges from rows alone.
 */
export function splitMonth(
  { fromMs, toMs }: Stretch,
  kept: Kept,
  { source, hours }: { readonly source: 'rollup_day' | 'customer_spend'; readonly hours: boolean },
): MonthSegments {
  let isRounded = false;
  const bound = (ms: number) => {
    const isLost = kept.lostDays.has(floorTo(ms, DAY_MS)) || (!hours && ms < kept.rowsFromMs);
    const size = isLost ? DAY_MS : HOUR_MS;
    if (ms % size === 0 || (!isLost && ms >= kept.rowsFromMs)) return ms;
    isRounded = true;
    return nearest(ms, size);
  };
  const [from, to] = [bound(fromMs), bound(toMs)];
  const parts = (a: number, b: number): StatsSegment[] => {
    if (!hours) return [{ source: 'rows', fromMs: a, toMs: b }];
    const [start, end] = [ceilTo(a, HOUR_MS), floorTo(b, HOUR_MS)];
    if (start >= end) return [{ source: 'rows', fromMs: a, toMs: b }];
    return [
      { source: 'rows', fromMs: a, toMs: start },
      { source: 'rollup_hour', fromMs: start, toMs: end },
      { source: 'rows', fromMs: end, toMs: b },
    ];
  };
  const [startDay, endDay] = [ceilTo(from, DAY_MS), floorTo(to, DAY_MS)];
  const segments =
    startDay >= endDay
      ? parts(from, to)
      : [...parts(from, startDay), { source, fromMs: startDay, toMs: endDay }, ...parts(endDay, to)];
  return { segments: segments.filter((segment) => segment.fromMs < segment.toMs), isRounded };
}
