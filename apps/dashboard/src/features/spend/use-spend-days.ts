import { useMemo } from 'react';
import { asInterval, useSpend } from '../../api/stats';
import { rangeQuery } from '../../range/time-range';
import { useNow } from '../../range/use-page';
import { firstOfWeeks } from './prepare-calendar';

const TICK_MS = 60_000;
const DAY_MS = 86_400_000;

/** Spend of each UTC day of the last twelve weeks: more than this month and the one before. */
export function useSpendDays(projectId: string | undefined) {
  const nowMs = useNow(TICK_MS);
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const spend = useSpend({
    // Whole days, so that the question is the same all day.
    ...rangeQuery({ fromMs: firstOfWeeks(todayMs), toMs: todayMs + DAY_MS }),
    ...(projectId === undefined ? {} : { project_id: projectId }),
    interval: asInterval(DAY_MS),
  });
  const buckets = spend.data?.buckets;
  const days = useMemo(
    () => buckets && new Map(buckets.map((bucket) => [Date.parse(bucket.start), bucket])),
    [buckets],
  );
  return { spend, days, nowMs, todayMs };
}
