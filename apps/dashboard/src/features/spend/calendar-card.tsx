import { useMemo } from 'react';
import { HeatTable } from '../../charts/heat/heat-table';
import { formatDay } from '../../format/format-time';
import { useChoice } from '../../range/use-choice';
import { useNow } from '../../range/use-page';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { Segmented } from '../../ui/segmented';
import { describeCalendar, firstOfWeeks, prepareCalendar, SPANS, type Span, WEEKDAYS } from './prepare-calendar';
import { useSpendDays } from './use-spend-days';

const DAY_MS = 86_400_000;
const TICK_MS = 60_000;
const HEADS = WEEKDAYS.map((day) => ({ key: day, label: day }));

/** Spend of each day; a day opens its requests. */
export function CalendarCard({ projectId }: { readonly projectId: string | undefined }) {
  const [span, setSpan] = useChoice<Span>('days', ['month', 'weeks']);
  const todayMs = Math.floor(useNow(TICK_MS) / DAY_MS) * DAY_MS;
  const { spend, days } = useSpendDays({ projectId, fromMs: firstOfWeeks(todayMs), toMs: todayMs + DAY_MS });
  const weeks = useMemo(() => days && prepareCalendar({ span, todayMs, days }), [span, todayMs, days]);
  return (
    <Card
      title="Spend by day (UTC)"
      actions={<Segmented label="Days" options={SPANS} value={span} onChange={setSpan} />}
    >
      <Failure of={spend} />
      <div className="min-h-76 sm:min-h-72">
        {weeks === undefined ? (
          <div className="h-76 rounded bg-hover/60 sm:h-72" aria-busy={spend.error === null} />
        ) : (
          <HeatTable
            caption="Spend by day"
            corner="Week of"
            heads={HEADS}
            rows={weeks.map(({ startMs, cells }) => ({
              key: String(startMs),
              head: <span className="max-sm:sr-only">{formatDay(startMs, 'utc')}</span>,
              cells,
            }))}
            opens="the dearest requests of the day"
            isEven
          />
        )}
      </div>
      <p className="mt-2 min-h-9 text-xs text-muted sm:min-h-4.5">{weeks && describeCalendar(weeks, span)}</p>
    </Card>
  );
}
