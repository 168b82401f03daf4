import { useMemo } from 'react';
import { asInterval, useSpend } from '../../api/stats';
import { rangeQuery } from '../../range/time-range';

const DAY_MS = 86_400_000;

interface Days {
  readonly projectId: string | undefined;
  /** Midnights in UTC: the question is the same all day. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Spend of each UTC day of a range, by its start. */
export function useSpendDays({ projectId, fromMs, toMs }: Days) {
  const spend = useSpend({
    ...rangeQuery({ fromMs, toMs }),
    ...(projectId === undefined ? {} : { project_id: projectId }),
    interval: asInterval(DAY_MS),
  });
  const buckets = spend.data?.buckets;
  const days = useMemo(
    () => buckets && new Map(buckets.map((bucket) => [Date.parse(bucket.start), bucket])),
    [buckets],
  );
  return { spend, days };
}
