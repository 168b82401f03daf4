import { memo } from 'react';
import { Opens, PointedTip } from '../pointed/opens';
import { PointedArea } from '../pointed/pointed-area';
import { ENOUGH } from '../prepare-scale';
import { BAR_PITCH, type Bar, HEALTH_LABELS, type Health, opensOf, pathOf, STRIP_HEIGHT } from './prepare-strip';

const FILLS = {
  none: 'fill-line-strong forced-colors:fill-[CanvasText]',
  fine: 'fill-good forced-colors:fill-[CanvasText]',
  some: 'fill-warn forced-colors:fill-[CanvasText]',
  mostly: 'fill-bad forced-colors:fill-[CanvasText]',
} as const satisfies Record<Health, string>;
/** Opacity of bars of few requests. */
const FAINT = 0.6;
const HEALTHS = Object.keys(HEALTH_LABELS) as Health[];

interface Props {
  readonly label: string;
  readonly bars: readonly Bar[];
  readonly describe: (bar: Bar) => string;
  readonly onSelect: (bar: Bar) => void;
}

/** Thin bars over time. A click, a second touch or Enter selects one; arrows move between them. */
export function Strip({ label, bars, describe, onSelect }: Props) {
  return (
    <div className="relative h-6">
      <Bars bars={bars} />
      <PointedArea {...{ label, describe }} parts={bars} onChoose={onSelect}>
        {(bar, index) => <Pointed {...{ index, count: bars.length }} text={describe(bar)} opens={opensOf(bar)} />}
      </PointedArea>
    </div>
  );
}

const Bars = memo(({ bars }: Pick<Props, 'bars'>) => (
  <svg
    viewBox={`0 0 ${bars.length * BAR_PITCH} ${STRIP_HEIGHT}`}
    preserveAspectRatio="none"
    className="absolute inset-0 size-full"
    aria-hidden="true"
  >
    {HEALTHS.map((health) => (
      <g key={health} className={FILLS[health]}>
        <path d={pathOf(bars, health)} />
        <path d={pathOf(bars, health, true)} fillOpacity={FAINT} />
      </g>
    ))}
  </svg>
));

interface PointedProps {
  readonly index: number;
  readonly count: number;
  readonly text: string;
  readonly opens: string;
}

/** The frame of a bar and its tooltip, which stays within the width of the strip. */
export function Pointed({ index, count, text, opens }: PointedProps) {
  const middle = ((index + 0.5) / count) * 100;
  return (
    <div aria-hidden="true" className="pointer-events-none absolute inset-0 z-20">
      <span
        className="absolute -inset-y-0.5 min-w-1 rounded-xs border border-text"
        style={{ left: `${(index / count) * 100}%`, width: `${100 / count}%` }}
      />
      <PointedTip
        text={text}
        note={<Opens what={opens} />}
        className="top-full mt-1 max-w-[min(24rem,100%)]"
        style={{ left: `${middle}%`, transform: `translateX(-${middle}%)` }}
      />
    </div>
  );
}

/** Explains the bars. */
export const StripLegend = () => (
  <ul className="flex flex-wrap gap-x-3 gap-y-1" aria-label="Meaning of the bars">
    {HEALTHS.map((health) => (
      <li key={health} className="flex items-center gap-1.5">
        <svg viewBox={`0 0 ${BAR_PITCH} ${STRIP_HEIGHT}`} className="h-3 w-1.5" aria-hidden="true">
          <path d={pathOf([{ health, requests: 40, failed: 10 }], health)} className={FILLS[health]} />
        </svg>
        {HEALTH_LABELS[health]}
      </li>
    ))}
    <li>Faint: fewer than {ENOUGH} requests</li>
  </ul>
);
