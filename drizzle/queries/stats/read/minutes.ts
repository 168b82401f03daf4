import type { Histogram } from '@llm0/core/logs/histogram';
import type { Db } from '../../../client';
import { rowsBefore } from '../../clickhouse/log-engine';
import { divideRows } from '../../clickhouse/segment-rows';
import { loadHistograms } from './durations';
import { type StatsQuery, type StatsScope, scopeOf } from './questions';
import { readDays } from './read-days';
import { askOf } from './time-limit';
import { type StatsSegment, splitRange } from './time-segments';
import { bucketKey, loadTotals } from './totals';

const MINUTE_MS = 60_000;

/** Values of a minute with requests. */
export interface MinuteSums {
  readonly startMs: number;
  readonly success: number;
  readonly failures: number;
  readonly costNanoUsd: number;
  readonly latency: Histogram | undefined;
}

export interface Minutes {
  /** Oldest first. */
  readonly minutes: readonly MinuteSums[];
  /** First moment read: later than requested at the time limit. */
  readonly readFromMs: number;
}

/**
 * Minutes of a range with whole-minute ends: from the roll-up while it exists, from older rows within `readDays`'
 * limits.
 */
export async function loadMinutes(db: Db, query: StatsQuery, withLatency = false): Promise<Minutes> {
  const scope: StatsScope = {
    ...{ ...scopeOf(query), intervalMs: MINUTE_MS, metrics: ['latency'] },
    sums: ['requests', 'success', 'failures', 'cost_usd'],
  };
  const minutes: MinuteSums[] = [];
  const elsewhere = await rowsBefore(db, query.fromMs);
  const readFromMs = await readDays(db, query, async (tx, stretch) => {
    // No roll-up knows customers.
    const rows: readonly StatsSegment[] = [{ source: 'rows', ...stretch }];
    const isOfRows = query.customerId !== undefined;
    const range = isOfRows ? rows : splitRange({ ...stretch, nowMs: query.nowMs, intervalMs: MINUTE_MS });
    const segments = divideRows(range, elsewhere);
    const totals = await loadTotals(askOf(tx), segments, scope);
    const latencies = withLatency ? await loadHistograms(askOf(tx), segments, scope) : undefined;
    for (const { startMs, totals: sums } of totals) {
      minutes.push({ startMs, ...sums, latency: latencies?.get(bucketKey(startMs, null))?.latency });
    }
    return false;
  });
  return { minutes: minutes.sort((a, b) => a.startMs - b.startMs), readFromMs };
}
