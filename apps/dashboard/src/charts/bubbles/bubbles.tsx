import type { Unit } from '../../format/units';
import { Opens, PointedTip } from '../pointed/opens';
import { PointedArea } from '../pointed/pointed-area';
import type { Pointing } from '../pointed/use-pointed';
import { axisLabels } from '../prepare-ticks';
import { type AxisTick, type Bubble, type BubbleChart, bubbleAt } from './prepare-bubbles';

interface Axis {
  readonly title: string;
  readonly unit: Unit;
}

interface Props {
  readonly label: string;
  readonly chart: BubbleChart;
  readonly x: Axis;
  readonly y: Axis;
  readonly colorOf: (name: string) => string;
  readonly describe: (name: string) => string;
  /** What a selection opens, such as `these requests`. */
  readonly opens: string;
  readonly onSelect: (name: string) => void;
}

/** Circles on two axes. A click, a second touch or Enter selects one; arrows move between them, by size. */
export function Bubbles({ label, chart, x, y, colorOf, describe, opens, onSelect }: Props) {
  const { bubbles, xTicks, yTicks } = chart;
  return (
    <div className="pt-8 pr-6 pb-9 pl-14">
      <div className="relative h-60">
        <Axes {...{ xTicks, yTicks, x, y }} />
        <Circles {...{ bubbles, colorOf }} />
        <PointedArea
          label={label}
          parts={bubbles}
          indexUnder={(event) => indexUnder(event, bubbles)}
          describe={({ name }) => describe(name)}
          onChoose={({ name }) => onSelect(name)}
          className="-inset-4"
        >
          {(bubble) => <Pointed bubble={bubble} text={describe(bubble.name)} opens={opens} />}
        </PointedArea>
      </div>
    </div>
  );
}

/** Pixels that the pointer's area is wider than the chart, on each side: circles reach over its edges. */
const MARGIN = 16;

function indexUnder({ clientX, clientY, currentTarget }: Pointing, bubbles: readonly Bubble[]) {
  const { left, top, width, height } = currentTarget.getBoundingClientRect();
  return bubbleAt(bubbles, {
    ...{ x: clientX - left - MARGIN, y: clientY - top - MARGIN },
    ...{ width: width - 2 * MARGIN, height: height - 2 * MARGIN },
  });
}

const GRID = 'stroke-line forced-colors:stroke-[CanvasText]';

interface AxesProps extends Pick<Props, 'x' | 'y'> {
  readonly xTicks: readonly AxisTick[];
  readonly yTicks: readonly AxisTick[];
}

function Axes({ xTicks, yTicks, x, y }: AxesProps) {
  const labels = (ticks: readonly AxisTick[], unit: Unit) => {
    const values = ticks.map(({ value }) => value);
    return axisLabels(unit, values);
  };
  const [across, up] = [labels(xTicks, x.unit), labels(yTicks, y.unit)];
  return (
    <div aria-hidden="true" className="nums absolute inset-0 text-2xs text-faint">
      <svg className="absolute inset-0 size-full overflow-visible" aria-hidden="true">
        {xTicks.map(({ value, at }) => (
          <line key={value} x1={percent(at)} x2={percent(at)} y1="0" y2="100%" className={GRID} />
        ))}
        {yTicks.map(({ value, at }) => (
          <line key={value} x1="0" x2="100%" y1={percent(1 - at)} y2={percent(1 - at)} className={GRID} />
        ))}
      </svg>
      {xTicks.map(({ value, at }, index) => (
        <span key={value} className="absolute top-full mt-1 -translate-x-1/2" style={{ left: percent(at) }}>
          {across[index]}
        </span>
      ))}
      {yTicks.map(({ value, at }, index) => (
        <span
          key={value}
          className="absolute right-full mr-2 -translate-y-1/2 text-right"
          style={{ top: percent(1 - at) }}
        >
          {up[index]}
        </span>
      ))}
      <span className="absolute top-full right-0 mt-5 text-muted">{x.title} →</span>
      <span className="absolute bottom-full -left-12 mb-3 text-muted">↑ {y.title}</span>
    </div>
  );
}

const percent = (share: number) => `${share * 100}%`;

const NAME_PLACES = {
  right: (radius: number) => `translate(${radius + 4}px, -50%)`,
  left: (radius: number) => `translate(calc(-100% - ${radius + 4}px), -50%)`,
  above: (radius: number) => `translate(calc(-100% + ${radius}px), calc(-100% - ${radius + 4}px))`,
  below: (radius: number) => `translate(calc(-100% + ${radius}px), ${radius + 4}px)`,
};

interface CirclesProps extends Pick<Props, 'colorOf'> {
  readonly bubbles: readonly Bubble[];
}

const Circles = ({ bubbles, colorOf }: CirclesProps) => (
  <div aria-hidden="true" className="absolute inset-0">
    <svg className="absolute inset-0 size-full overflow-visible" aria-hidden="true">
      {bubbles.map(({ name, left, top, radius }) => (
        <circle
          key={name}
          cx={`${left}%`}
          cy={`${top}%`}
          r={radius}
          fill={colorOf(name)}
          fillOpacity={0.55}
          strokeWidth={1.5}
          stroke={colorOf(name)}
          className="forced-colors:fill-[Canvas] forced-colors:stroke-[CanvasText]"
        />
      ))}
    </svg>
    {bubbles.map(({ name, left, top, radius, nameAt }) =>
      nameAt === null ? null : (
        <span
          key={name}
          className="absolute text-xs whitespace-nowrap max-lg:hidden"
          style={{
            ...{ left: `${left}%`, top: `${top}%` },
            transform: NAME_PLACES[nameAt](radius),
          }}
        >
          {name}
        </span>
      ),
    )}
  </div>
);

interface PointedProps {
  readonly bubble: Bubble;
  readonly text: string;
  readonly opens: string;
}

/** The circle stands out, with a tooltip below it, within the width of the chart. */
const Pointed = ({ bubble: { left, top, radius }, text, opens }: PointedProps) => (
  <div aria-hidden="true" className="pointer-events-none absolute inset-0 z-20">
    <svg className="absolute inset-0 size-full overflow-visible" aria-hidden="true">
      <circle cx={`${left}%`} cy={`${top}%`} r={radius} className="fill-none stroke-text stroke-3" />
    </svg>
    <PointedTip
      text={text}
      note={<Opens what={opens} />}
      className="max-w-[min(22rem,100%)]"
      style={{ left: `${left}%`, top: `calc(${top}% + ${radius + 6}px)`, transform: `translateX(-${left}%)` }}
    />
  </div>
);
