import type { Statement } from '../../api/finance';
import { SAVED } from '../../format/saved-labels';
import { formatFixed } from './format-fixed';
import {
  comparedName,
  describeSaved,
  drawnChange,
  formatBand,
  formatDifference,
  formatPercent,
  monthName,
  noChangeReason,
} from './prepare-finance';

interface Props {
  readonly statement: Statement;
  readonly decimals: number;
}

interface Figure {
  readonly label: string;
  readonly value: string;
  readonly details: readonly string[];
}

/** The month in a few figures. */
export function SummaryCards({ statement, decimals }: Props) {
  const figures = figuresOf(statement, decimals);
  return (
    <dl
      className={`statement-summary grid grid-cols-2! gap-px overflow-hidden rounded-lg border bg-line ${figures.length === 3 ? 'sm:grid-cols-3! max-sm:*:last:col-span-2' : 'lg:grid-cols-4!'}`}
    >
      {figures.map(({ label, value, details }) => (
        <div key={label} className="min-w-0 bg-panel px-4 py-3">
          <dt className="text-xs text-muted">{label}</dt>
          <dd className="nums mt-0.5 text-xl font-semibold tracking-tight">{value}</dd>
          {details.map((detail) => (
            <dd key={detail} className="text-xs text-muted">
              {detail}
            </dd>
          ))}
        </div>
      ))}
    </dl>
  );
}

function figuresOf(statement: Statement, decimals: number): Figure[] {
  const { total, is_final: isFinal, month } = statement;
  const usd = (amount: number | null) => formatFixed(amount, decimals);
  const forecast: Figure = {
    label: `Forecast for ${monthName(month)}, USD`,
    value: usd(total.forecast?.expected_usd ?? null),
    details: [
      total.forecast === null ? 'Not enough data for a forecast' : `Range ${formatBand(total.forecast, decimals)}`,
    ],
  };
  const saved: Figure = {
    label: `${SAVED.byCache}, USD`,
    value: usd(total.saved_usd),
    details: describeSaved(total, decimals),
  };
  return [
    {
      label: `${isFinal ? 'Spent' : 'Month to date'}, USD`,
      value: usd(total.cost_usd),
      details: total.estimated_usd === null ? [] : [`Of which estimated ${usd(total.estimated_usd)}`],
    },
    {
      label: `${comparedName(statement)}, USD`,
      value: usd(total.previous_usd),
      details: [
        total.previous_usd === null
          ? noChangeReason(statement)
          : `Change ${formatDifference(drawnChange(total, decimals), decimals)} (${formatPercent(total)})`,
      ],
    },
    ...(isFinal ? [] : [forecast]),
    saved,
  ];
}
