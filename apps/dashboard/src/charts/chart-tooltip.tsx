import { NOTHING } from '../format/format-number';
import { formatStamp } from '../format/format-time';
import { UNITS } from '../format/units';
import type { TimeChartProps } from './chart-props';
import { unfinishedIndex } from './prepare-series';

interface Props {
  readonly chart: TimeChartProps;
  readonly index: number;
  readonly left: number;
}

const MAX_ROWS = 10;
const MINUTE_MS = 60_000;

/** Exact values of one bucket, beside the pointer. */
export function ChartTooltip({ chart, index, left }: Props) {
  const { data, kind, unit, timeZone, intervalMs } = chart;
  const format = UNITS[unit].full;
  const time = data.times[index];
  if (time === undefined) return null;
  const rows = data.series.map((series) => ({ ...series, value: series.values[index] ?? null }));
  const shown = rows.filter(({ value }) => value !== null && value !== 0).slice(0, MAX_ROWS);
  const sum = rows.reduce((total, { value }) => total + (value ?? 0), 0);
  const stamp = formatStamp(time, timeZone).slice(0, intervalMs < MINUTE_MS ? 19 : 16);
  const isRight = left > 320;
  return (
    <div
      className="pointer-events-none absolute top-1 z-20 max-w-80 min-w-40 rounded-md border border-line-strong bg-panel px-2.5 py-2 text-xs shadow-md"
      style={isRight ? { right: `calc(100% - ${left - 12}px)` } : { left: left + 12 }}
    >
      <div className="nums mb-1 text-muted">
        {stamp}
        {timeZone === 'utc' ? ' UTC' : ''}
        {unfinishedIndex(data.times, intervalMs, Date.now()) === index ? ', so far' : ''}
      </div>
      {(shown.length === 0 ? rows.slice(0, 1) : shown).map(({ name, label, color, value }) => (
        <div key={name} className="flex items-center gap-2">
          <span className="size-2 shrink-0 rounded-[2px]" style={{ background: color }} />
          <span className="grow truncate">{label}</span>
          <span className="nums font-medium">{value === null ? NOTHING : format(value)}</span>
        </div>
      ))}
      {kind === 'stacked' && data.series.length > 1 && (
        <div className="mt-1 flex justify-between gap-4 border-t pt-1">
          <span className="text-muted">Total</span>
          <span className="nums font-medium">{format(sum)}</span>
        </div>
      )}
    </div>
  );
}
