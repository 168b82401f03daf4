import { useMemo, useState } from 'react';
import type { Project } from '../../api/projects';
import { asInterval, useSpend } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { accumulate } from '../../charts/prepare-series';
import { colorOf } from '../../charts/series-colors';
import { formatDay } from '../../format/format-time';
import { formatUsd } from '../../format/format-usd';
import { bucketStarts, rangeQuery, untilNow } from '../../range/time-range';
import { monthStart, nextMonthStart, projectExhaustion } from '../projects/prepare-usage';

const DAY_MS = 86_400_000;
const PACE_DAYS = 7;

/** The month so far against the cap, and when it will be used up. */
export function CapCard({ project }: { readonly project: Project }) {
  const [nowMs] = useState(() => Date.now());
  const startMs = monthStart(nowMs);
  const query = { ...rangeQuery({ fromMs: startMs, toMs: untilNow(nowMs + 60_000) }), project_id: project.id };
  const spend = useSpend({
    ...query,
    interval: asInterval(DAY_MS),
  });
  const prepared = useMemo(() => {
    if (spend.data === undefined) return undefined;
    const times = bucketStarts({ fromMs: startMs, toMs: nextMonthStart(nowMs), intervalMs: DAY_MS, label: '' });
    const byDay = new Map(spend.data.buckets.map((bucket) => [Date.parse(bucket.start), bucket.cost_usd]));
    const past = times.filter((time) => time <= nowMs);
    const days = past.map((time) => byDay.get(time) ?? 0);
    const sums = accumulate(days);
    const series = {
      name: project.id,
      label: 'Spent so far',
      color: colorOf(project.id),
      values: times.map((_, index) => sums[index] ?? null),
    };
    const lastDays = days.slice(-PACE_DAYS);
    const pace = lastDays.reduce((sum, usd) => sum + usd, 0) / Math.max(1, lastDays.length);
    return { data: { times, series: [series] }, spentUsd: sums.at(-1) ?? 0, paceUsdPerDay: pace };
  }, [spend.data, startMs, nowMs, project.id]);
  const capUsd = project.monthly_cap_usd;
  return (
    <ChartCard
      title={`This month${capUsd === null ? '' : `, cap ${formatUsd(capUsd)}`}`}
      data={prepared?.data}
      kind="line"
      height={170}
      unit="usd"
      page={{ timeZone: 'utc', range: { intervalMs: DAY_MS }, query }}
      limit={capUsd ?? undefined}
      query={spend}
      emptyText="Nothing was spent this month."
      note={prepared && describePace({ nowMs, capUsd, ...prepared })}
    />
  );
}

function describePace(input: {
  nowMs: number;
  capUsd: number | null;
  spentUsd: number;
  paceUsdPerDay: number;
}): string {
  const { nowMs, capUsd, spentUsd, paceUsdPerDay } = input;
  const pace = `${formatUsd(spentUsd)} spent, recently ${formatUsd(paceUsdPerDay)} a day.`;
  if (capUsd === null) return `${pace} No cap is set.`;
  const endsMs = projectExhaustion({ nowMs, capUsd, spentUsd, paceUsdPerDay });
  if (endsMs === null) return `${pace} At this pace, the cap lasts the month.`;
  return endsMs <= nowMs
    ? `${pace} The cap is used up.`
    : `${pace} At this pace, the cap is used up on ${formatDay(endsMs, 'utc')}.`;
}
