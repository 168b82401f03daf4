import { useMemo } from 'react';
import { useStatement } from '../../api/finance';
import type { Project } from '../../api/projects';
import { MonthCurve, MonthLegend } from '../../charts/month/month-curve';
import { type MonthCurve as Curve, type MonthDay, prepareMonth } from '../../charts/month/prepare-month';
import { formatUsdExact } from '../../format/format-usd';
import { useNow } from '../../range/use-page';
import { useShowRequests } from '../../range/use-show-requests';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { FiguresTable } from '../../ui/table/figures-table';
import { capOf, describeMonth, monthName, monthOf } from '../finance/prepare-finance';
import { monthDays } from './prepare-calendar';
import { cellsOfDay, describeDay, FIGURES } from './prepare-month-day';
import { useSpendDays } from './use-spend-days';

const DAY_MS = 86_400_000;
const TICK_MS = 60_000;

interface Props {
  readonly project: Project | undefined;
  /** `YYYY-MM`; by default the current one. */
  readonly month?: string;
}

/** A month beside the one before, with its forecast; of a project, against its cap. */
export function CapCard({ project, month }: Props) {
  const { curve, spend, statement, note, capUsd, name } = useMonth({ project, month });
  const showRequests = useShowRequests();
  const open = (day: MonthDay | undefined) => {
    if (day === undefined) return;
    const ofProject = project === undefined ? {} : { project: project.id };
    showRequests({ ...ofProject, sort: '-cost_usd' }, { fromMs: day.startMs, toMs: day.startMs + DAY_MS });
  };
  return (
    <Card title={`${name} (UTC)${capUsd === null ? '' : `, cap ${formatUsdExact(capUsd)}`}`}>
      <Failure of={spend} />
      <Failure of={statement} />
      {curve === undefined ? (
        <div className="h-56 rounded bg-hover/60" aria-busy={spend.error === null} />
      ) : (
        <>
          <MonthCurve
            label="Spend of the month by day"
            curve={curve}
            describe={(index) => describeDay(curve, index)}
            onSelect={(index) => open(curve.days[index])}
          />
          <FiguresTable
            caption={`${name} in figures`}
            heads={FIGURES}
            rows={curve.days.map((day) => ({ key: String(day.startMs), cells: cellsOfDay(day) }))}
          />
        </>
      )}
      <MonthLegend
        hasBefore={curve !== undefined && curve.paths.before !== ''}
        hasForecast={curve !== undefined && curve.paths.expected !== ''}
        hasBand={curve !== undefined && curve.paths.band !== ''}
        hasCap={curve?.cap?.isDrawn === true}
      />
      <p className="mt-2 min-h-9 text-xs text-muted sm:min-h-4.5">
        {note}
        {curve?.cap?.isDrawn === false && ' The cap is far above the curves.'}
      </p>
    </Card>
  );
}

/** Says since when the month before has spend: a late start looks like growth. */
function startOfBefore(curve: Curve | undefined): string {
  if (curve?.paths.before === '') return ' The month before has no data.';
  const first = curve?.days.findIndex(({ before }) => (before ?? 0) > 0) ?? -1;
  return first > 0 ? ` The month before has spend from day ${first + 1} on.` : '';
}

function useMonth({ project, month }: Props) {
  const nowMs = useNow(TICK_MS);
  const running = monthOf(nowMs, 'UTC');
  const isPast = month !== undefined && month < running;
  const shown = isPast ? month : running;
  const startMs = Date.parse(`${shown}-01T00:00:00Z`);
  const { spend, days } = useSpendDays({ projectId: project?.id, ...monthDays(startMs, nowMs) });
  const statement = useStatement({
    // Of all groups, providers are the fewest.
    ...{ month: shown, time_zone: 'UTC', by: 'provider' },
    ...(project === undefined ? {} : { project_id: project.id }),
  });
  const known = statement.isPlaceholderData ? undefined : statement.data;
  // A past month is held against the cap of that month.
  const capUsd = (isPast ? known && capOf(known, project)?.cap_usd : project?.monthly_cap_usd) ?? null;
  // Until the statement is there, nothing is known of the month before.
  const dataFromMs = known === undefined ? startMs : Date.parse(known.compared_with.data_from ?? '1970-01-01');
  const curve = useMemo(() => {
    if (days === undefined) return undefined;
    const spentOn = new Map([...days].map(([start, { cost_usd: usd }]) => [start, usd]));
    return prepareMonth({ spentOn, startMs, nowMs, capUsd, forecast: known?.forecast_days ?? [], dataFromMs });
  }, [days, startMs, nowMs, capUsd, known, dataFromMs]);
  const name = isPast ? monthName(shown) : 'This month';
  return { curve, spend, statement, capUsd, name, note: known && describeMonth(known, project) + startOfBefore(curve) };
}
