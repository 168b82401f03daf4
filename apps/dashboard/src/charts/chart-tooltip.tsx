import { formatCount, NOTHING } from '../format/format-number';
import { formatClock } from '../format/format-time';
import type { Hover } from './chart-options';
import type { TimeChartProps } from './chart-props';
import { Opens } from './pointed/opens';
import { describeMark, MARK_KINDS } from './prepare-marks';
import { formatTooltip, opensOf, prepareTooltip, type Tooltip } from './prepare-tooltip';

interface Props extends Hover {
  readonly chart: TimeChartProps;
}

const MAX_MARKS = 4;
/** Between it and the pointer. */
const GAP_PX = 12;

/** Exact values of one bucket, beside the pointer. */
export function ChartTooltip({ chart, index, left, top, width, near, layer }: Props) {
  const tooltip = prepareTooltip(chart, index, near);
  if (tooltip === null) return null;
  // On the side with more room, and never beyond it.
  const isRight = left > width / 2;
  const maxWidth = Math.min(320, (isRight ? left : width - left) - GAP_PX);
  const full = formatTooltip(chart, tooltip);
  const format = (value: number | null) => (value === null ? NOTHING : full(value));
  const { sum, sumBefore, stampBefore } = tooltip;
  const isStack = chart.data.series.length > 1;
  const columns = stampBefore === null ? 'grid-cols-[1fr_auto]' : 'grid-cols-[1fr_auto_auto]';
  return (
    <div
      className="pointer-events-none absolute z-20 rounded-md border border-line-strong bg-panel px-2.5 py-2 text-xs shadow-md"
      style={{
        ...(isRight ? { right: `calc(100% - ${left - GAP_PX}px)` } : { left: left + GAP_PX }),
        maxWidth,
        top: Math.min(top, chart.height / 2),
      }}
    >
      <div className="nums text-muted">
        {tooltip.stamp}
        {tooltip.count !== null && `, n = ${formatCount(tooltip.count)}`}
      </div>
      {stampBefore !== null && <div className="text-2xs text-faint tabular-nums">previous: {stampBefore}</div>}
      <div className={`mt-1 grid ${columns} items-baseline gap-x-3`}>
        {tooltip.rows.map(({ name, label, color, value, before }) => (
          <div key={name} className={`contents ${name === layer && isStack ? 'font-semibold' : 'font-medium'}`}>
            <span className="flex min-w-0 items-center gap-2">
              <span className="size-2 shrink-0 rounded-[2px]" style={{ background: color }} />
              <span className={`truncate ${name === layer && isStack ? '' : 'font-normal'}`}>{label}</span>
            </span>
            <span className="nums text-right">{format(value)}</span>
            {stampBefore !== null && <span className="nums text-right font-normal text-faint">{format(before)}</span>}
          </div>
        ))}
        {sum !== null && (
          <>
            <span className="mt-1 border-t pt-1 text-muted">Total</span>
            <span className="nums mt-1 border-t pt-1 text-right font-medium">{format(sum)}</span>
            {stampBefore !== null && (
              <span className="nums mt-1 border-t pt-1 text-right text-faint">{format(sumBefore)}</span>
            )}
          </>
        )}
      </div>
      <Marks marks={tooltip.marks} timeZone={chart.timeZone} />
      {chart.onSelect !== undefined && (
        <p className="mt-1 text-muted">
          <Opens what={opensOf(chart, layer)} />
        </p>
      )}
    </div>
  );
}

type MarksProps = Pick<Tooltip, 'marks'> & Pick<TimeChartProps, 'timeZone'>;

function Marks({ marks, timeZone }: MarksProps) {
  if (marks.length === 0) return null;
  return (
    <ul className="mt-1.5 grid gap-0.5 border-t pt-1">
      {marks.slice(0, MAX_MARKS).map((mark) => (
        <li key={mark.id} className="flex gap-2">
          <span
            className="mt-1 size-2 shrink-0 rounded-full"
            style={{ background: `var(${MARK_KINDS[mark.kind].color})` }}
          />
          <span className="min-w-0 wrap-anywhere">
            <span className="nums text-muted">{formatClock(mark.atMs, timeZone)}</span> {describeMark(mark)}
          </span>
        </li>
      ))}
      {marks.length > MAX_MARKS && <li className="text-muted">and {marks.length - MAX_MARKS} more</li>}
    </ul>
  );
}
