import { SparkBars } from '../../../charts/spark/spark-bars';
import { NOTHING } from '../../../format/format-number';
import { Badge } from '../../../ui/badge';
import type { Column } from '../../../ui/table/column';
import { describeDays, sumOfDays } from './prepare-days';
import type { Outlook } from './prepare-outlooks';

type Wide = Column<unknown>['wideOnly'];

/** Spend by day as small bars, with its sum. */
export const daysColumn = <T,>(daysOf: (row: T) => readonly number[] | null, wideOnly?: Wide): Column<T> => ({
  ...{ header: 'Spent, last 14 days', unit: 'usd', wideOnly },
  value: (row) => sumOfDays(daysOf(row)),
  cell: (row, amount) => {
    const days = daysOf(row);
    if (days === null) return NOTHING;
    return (
      <span className="inline-flex items-center gap-2 align-middle">
        <span className="max-sm:hidden">
          <SparkBars values={days} label={describeDays(days, Date.now())} />
        </span>
        <span className="min-w-20">{amount}</span>
      </span>
    );
  },
});

/** The day on which a budget runs out. */
export const outlookColumn = <T,>(outlookFor: (row: T) => Outlook | undefined, wideOnly?: Wide): Column<T> => ({
  ...{ header: 'Runs out', wideOnly },
  value: (row) => outlookFor(row)?.day ?? null,
  cell: (row) => {
    const outlook = outlookFor(row);
    if (outlook === undefined) return NOTHING;
    return (
      <span title={outlook.text}>
        <span aria-hidden="true">
          <Badge tone={outlook.tone}>{outlook.short}</Badge>
        </span>
        <span className="sr-only">{outlook.text}</span>
      </span>
    );
  },
});
