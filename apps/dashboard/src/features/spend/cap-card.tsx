import { useMemo, useState } from 'react';
import { useStatement } from '../../api/finance';
import type { Project } from '../../api/projects';
import { asInterval, useSpend } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { accumulate } from '../../charts/prepare-series';
import { colorOf } from '../../charts/series-colors';
import { formatUsd } from '../../format/format-usd';
import { bucketStarts, rangeQuery, untilNow } from '../../range/time-range';
import { describeMonth } from '../finance/prepare-finance';
import { monthStart, nextMonthStart } from '../projects/prepare-usage';

const DAY_MS = 86_400_000;

/** The month so far against the cap, and when it will be used up. */
export function CapCard({ project }: { readonly project: Project }) {
  const [nowMs] = useState(() => Date.now());
  const startMs = monthStart(nowMs);
  const query = { ...rangeQuery({ fromMs: startMs, toMs: untilNow(nowMs + 60_000) }), project_id: project.id };
  const spend = useSpend({
    ...query,
    interval: asInterval(DAY_MS),
  });
  const month = new Date(nowMs).toISOString().slice(0, 7);
  const statement = useStatement({ month, time_zone: 'UTC', project_id: project.id });
  const data = useMemo(() => {
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
    return { times, series: [series] };
  }, [spend.data, startMs, nowMs, project.id]);
  const capUsd = project.monthly_cap_usd;
  return (
    <ChartCard
      title={`This month${capUsd === null ? '' : `, cap ${formatUsd(capUsd)}`}`}
      data={data}
      kind="line"
      height={170}
      unit="usd"
      page={{ timeZone: 'utc', range: { intervalMs: DAY_MS }, query }}
      limit={capUsd ?? undefined}
      opens="the dearest requests"
      requestsOf={() => ({ project: project.id, sort: '-cost_usd' })}
      query={spend}
      emptyText="Nothing was spent this month."
      note={statement.isPlaceholderData ? undefined : statement.data && describeMonth(statement.data, project)}
    />
  );
}
