import { formatDay } from '../../format/format-time';
import { Opens, PointedTip } from '../pointed/opens';
import { PointedArea } from '../pointed/pointed-area';
import { axisLabels } from '../prepare-ticks';
import { heightOf, type MonthCurve as Prepared } from './prepare-month';

const LINE = 'fill-none [vector-effect:non-scaling-stroke]';
/** Told apart by their dashes, too. */
const LINES = {
  spent: `${LINE} stroke-accent stroke-2 forced-colors:stroke-[CanvasText]`,
  before: `${LINE} stroke-faint [stroke-dasharray:5_3] forced-colors:stroke-[CanvasText]`,
  expected: `${LINE} stroke-accent stroke-2 [stroke-dasharray:1_4] [stroke-linecap:round] forced-colors:stroke-[CanvasText]`,
  cap: `${LINE} stroke-bad [stroke-dasharray:9_4] forced-colors:stroke-[CanvasText]`,
} as const;
const BAND =
  'fill-accent/15 forced-colors:fill-none forced-colors:stroke-[GrayText] [vector-effect:non-scaling-stroke]';

interface Props {
  readonly label: string;
  readonly curve: Prepared;
  /** The day at an index in words. */
  readonly describe: (index: number) => string;
  /** A click, a second touch or Enter on a day. */
  readonly onSelect: (index: number) => void;
}

/** Running totals of a month, its forecast and its cap; days by pointer or arrow keys. */
export function MonthCurve({ label, curve, describe, onSelect }: Props) {
  const { days, ticks, topUsd, today } = curve;
  const labels = axisLabels('usd', ticks);
  return (
    <div className="grid h-56 grid-cols-[auto_minmax(0,1fr)] grid-rows-[1fr_1.25rem]">
      <ul aria-hidden="true" className="relative w-14 text-2xs text-faint">
        {ticks.map((usd, at) => (
          <li
            key={usd}
            className="nums absolute right-1.5 -translate-y-1/2"
            style={{ top: `${heightOf(usd, topUsd)}%` }}
          >
            {labels[at]}
          </li>
        ))}
      </ul>
      <div className="relative">
        <Curves curve={curve} />
        <PointedArea
          label={label}
          parts={days}
          describe={(_, index) => describe(index)}
          onChoose={(_, index) => index <= today && onSelect(index)}
          shows="the requests of a day"
        >
          {(_, index) => <Pointed {...{ index, count: days.length }} text={describe(index)} isPast={index <= today} />}
        </PointedArea>
      </div>
      <Days curve={curve} />
    </div>
  );
}

function Curves({ curve: { paths, ticks, topUsd, cap } }: Pick<Props, 'curve'>) {
  return (
    <svg viewBox="0 0 100 100" preserveAspectRatio="none" className="absolute inset-0 size-full" aria-hidden="true">
      {ticks.map((usd) => (
        <path key={usd} d={acrossAt(usd, topUsd)} className={`${LINE} stroke-line`} />
      ))}
      <path d={paths.band} className={BAND} />
      <path d={paths.before} className={LINES.before} />
      <path d={paths.expected} className={LINES.expected} />
      <path d={paths.spent} className={LINES.spent} />
      {cap?.isDrawn && <path d={acrossAt(cap.usd, topUsd)} className={LINES.cap} />}
    </svg>
  );
}

const acrossAt = (usd: number, topUsd: number) => `M0 ${heightOf(usd, topUsd)}H100`;

const WEEK = 7;
/** A label here would leave the picture. */
const LAST = 28;

/** The first day of every week, under its place. */
const Days = ({ curve: { days } }: Pick<Props, 'curve'>) => (
  <ul aria-hidden="true" className="nums relative col-start-2 text-2xs text-faint">
    {days.map(
      ({ startMs }, index) =>
        index % WEEK === 0 &&
        index < LAST && (
          <li key={startMs} className="absolute top-1" style={{ left: `${(index / days.length) * 100}%` }}>
            {formatDay(startMs, 'utc')}
          </li>
        ),
    )}
  </ul>
);

interface PointedProps {
  readonly index: number;
  readonly count: number;
  readonly text: string;
  readonly isPast: boolean;
}

/** The place of a day, and its tooltip on the side with more room. */
function Pointed({ index, count, text, isPast }: PointedProps) {
  const [start, end] = [(index / count) * 100, ((index + 1) / count) * 100];
  const isLate = start + end > 100;
  return (
    <div aria-hidden="true" className="pointer-events-none absolute inset-0 z-20">
      <span
        className="absolute inset-y-0 min-w-1 border-x border-line-strong"
        style={{ left: `${start}%`, width: `${end - start}%` }}
      />
      <PointedTip
        text={text}
        note={isPast && <Opens what="the dearest requests of the day" />}
        className="top-1"
        style={{
          ...(isLate ? { right: `${101 - start}%` } : { left: `${end + 1}%` }),
          maxWidth: `min(20rem, ${(isLate ? start : 100 - end) - 2}%)`,
        }}
      />
    </div>
  );
}

const SIGN = 'h-3 w-5 shrink-0';

interface LegendProps {
  readonly hasBefore: boolean;
  readonly hasForecast: boolean;
  readonly hasBand: boolean;
  readonly hasCap: boolean;
}

/** Explains the curves. */
export function MonthLegend({ hasBefore, hasForecast, hasBand, hasCap }: LegendProps) {
  const parts = [
    ['spent', 'Spent', true],
    ['before', 'Month before', hasBefore],
    ['expected', 'Forecast', hasForecast],
    ['cap', 'Cap', hasCap],
  ] as const;
  return (
    <ul
      className="mt-2 flex min-h-10 flex-wrap content-start gap-x-3 gap-y-1 text-xs text-muted sm:min-h-4.5"
      aria-label="Meaning of the curves"
    >
      {parts.map(
        ([name, text, isShown]) =>
          isShown && (
            <li key={name} className="flex items-center gap-1.5">
              <svg viewBox="0 0 20 12" className={SIGN} aria-hidden="true">
                {name === 'expected' && hasBand && <rect width="20" height="12" className={BAND} />}
                <path d="M0 6H20" className={LINES[name]} />
              </svg>
              {name === 'expected' && hasBand ? 'Forecast with its range' : text}
            </li>
          ),
      )}
    </ul>
  );
}
