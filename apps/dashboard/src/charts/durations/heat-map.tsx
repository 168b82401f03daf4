import { memo, useId } from 'react';
import { formatMsShort } from '../../format/format-number';
import type { TimeZoneChoice } from '../../format/format-time';
import { Opens, PointedTip } from '../pointed/opens';
import { timeLabels } from '../prepare-ticks';
import { MEANING } from '../series-colors';
import { logTicks, shareOf } from './prepare-bins';
import {
  type Cell,
  cellsBetween,
  cellsPath,
  describeCell,
  describeRegion,
  firstCell,
  type HeatLine,
  PERCENTILES,
  type HeatMap as Prepared,
  placeOf,
  type Region,
  regionOf,
  SHADES,
} from './prepare-heat-map';
import { useCells } from './use-cells';

interface Props {
  readonly label: string;
  readonly map: Prepared;
  readonly lines: readonly HeatLine[];
  readonly timeZone: TimeZoneChoice;
  /** What is selected. */
  readonly region: Region | null;
  readonly onRegion: (region: Region | null) => void;
  readonly onOpen: (region: Region) => void;
}

const HEIGHT = 'h-60';
const FILL = 'fill-text forced-colors:fill-[CanvasText]';
const OPACITIES = [0.1, 0.22, 0.38, 0.56, 0.78] as const;

/** Requests by time and duration, darker where they are more, with percentiles as lines. */
export function HeatMap({ label, map, lines, timeZone, region, onRegion, onOpen }: Props) {
  const hintId = useId();
  const { at, selecting, handlers } = useCells({ map, hasRegion: region !== null, onRegion, onOpen });
  const shown = selecting === null ? region : regionOf(map, selecting);
  const cell = at ?? firstCell(map);
  const text =
    selecting === null ? describeCell(map, cell, timeZone) : describeRegion(regionOf(map, selecting), timeZone);
  return (
    <div className="grid grid-cols-[3.25rem_minmax(0,1fr)] gap-y-1">
      <DurationAxis map={map} />
      <div className={`relative ${HEIGHT} border-b border-l`}>
        <Picture map={map} lines={lines} />
        {shown !== null && <Frame map={map} region={shown} />}
        {at !== null && <Pointed {...{ map, cell: at, text }} isSelecting={selecting !== null} />}
        <div
          role="slider"
          tabIndex={0}
          aria-label={label}
          aria-orientation="horizontal"
          aria-valuemin={0}
          aria-valuemax={Math.max(0, map.times.length - 1)}
          aria-valuenow={cell.column}
          aria-valuetext={text}
          aria-describedby={hintId}
          // A finger that moves sideways selects; up and down it scrolls the page.
          className="absolute inset-0 cursor-crosshair touch-pan-y touch-pinch-zoom rounded-sm"
          {...handlers}
        />
        <span id={hintId} className="sr-only">
          Left and right move in time, up and down in duration. Press Enter to see the requests. Hold Shift to select a
          region, then press Enter to see what differs.
        </span>
      </div>
      <span />
      <TimeLabels map={map} timeZone={timeZone} />
    </div>
  );
}

const percent = (share: number) => `${share * 100}%`;

const DurationAxis = ({ map: { bins } }: Pick<Props, 'map'>) => (
  <div aria-hidden="true" className={`relative ${HEIGHT} text-2xs text-faint`}>
    {logTicks(bins).map((ms) => (
      <span
        key={ms}
        className="nums absolute right-1.5 translate-y-1/2 leading-none"
        style={{ bottom: percent(shareOf(bins, ms)) }}
      >
        {formatMsShort(ms)}
      </span>
    ))}
  </div>
);

/** Labels from here on would leave the axis. */
const LAST = 0.94;

function TimeLabels({ map: { times, intervalMs }, timeZone }: Pick<Props, 'map' | 'timeZone'>) {
  const fromMs = times[0] ?? 0;
  const toMs = (times.at(-1) ?? fromMs) + intervalMs;
  const labels = (on: 'phone' | 'wide') =>
    timeLabels({ fromMs, toMs, timeZone }, on)
      .filter(({ share }) => share < LAST)
      .map(({ ms, label, share }) => (
        <span
          key={ms}
          className={`nums absolute ${share < 1 - LAST ? '' : '-translate-x-1/2'}`}
          style={{ left: percent(share) }}
        >
          {label}
        </span>
      ));
  return (
    <div aria-hidden="true" className="relative h-4 text-2xs text-faint">
      <div className="md:hidden">{labels('phone')}</div>
      <div className="max-md:hidden">{labels('wide')}</div>
    </div>
  );
}

const SHADE_LIST = Array.from({ length: SHADES }, (_, index) => index + 1);

const Picture = memo(({ map, lines }: Pick<Props, 'map' | 'lines'>) => (
  <svg
    viewBox={`0 0 ${map.times.length} ${map.bins.length}`}
    preserveAspectRatio="none"
    className="absolute inset-0 size-full"
    aria-hidden="true"
  >
    {logTicks(map.bins).map((ms) => (
      <path
        key={ms}
        d={`M0 ${map.bins.length * (1 - shareOf(map.bins, ms))}h${map.times.length}`}
        className="stroke-line"
        vectorEffect="non-scaling-stroke"
      />
    ))}
    <g shapeRendering="crispEdges">
      {SHADE_LIST.map((shade) => (
        <path key={shade} d={cellsPath(map, shade)} className={FILL} fillOpacity={OPACITIES[shade - 1]} />
      ))}
    </g>
    {/* A rim of the background keeps lines apart from dark cells. */}
    {lines.toReversed().map(({ name, path, dashes }) => (
      <g key={name} className="stroke-panel">
        <path d={path} {...STROKE} strokeWidth={4} />
        {dashes.map((path, rims) => (
          <path key={widthOf(rims)} d={path} {...DASH} strokeWidth={widthOf(rims) + 2} />
        ))}
      </g>
    ))}
    {lines.toReversed().map(({ name, path, dashes, color }) => (
      <g key={name} stroke={color}>
        <path d={path} {...STROKE} strokeWidth={2} />
        {dashes.map((path, rims) => (
          <path key={widthOf(rims)} d={path} {...DASH} strokeWidth={widthOf(rims)} />
        ))}
      </g>
    ))}
  </svg>
));

/** Of a dash below `rims` others: each of them is seen around the next one. */
const widthOf = (rims: number) => 2 + 3 * rims;

const STROKE = {
  fill: 'none',
  strokeLinejoin: 'round',
  strokeLinecap: 'round',
  vectorEffect: 'non-scaling-stroke',
} as const;
const DASH = { ...STROKE, strokeLinecap: 'butt' } as const;

function Frame({ map, region }: Pick<Props, 'map'> & { readonly region: Region }) {
  const place = placeOf(map, region);
  if (place === null) return null;
  const { left, bottom, width, height } = place;
  return (
    <span
      aria-hidden="true"
      className="pointer-events-none absolute rounded-xs border-2 border-accent bg-accent/10"
      style={{ left: percent(left), bottom: percent(bottom), width: percent(width), height: percent(height) }}
    />
  );
}

interface PointedProps extends Pick<Props, 'map'> {
  readonly cell: Cell;
  readonly text: string;
  readonly isSelecting: boolean;
}

/** The frame of a cell, and a tooltip at the far end of the picture, so that it covers no neighbours. */
function Pointed({ map, cell, text, isSelecting }: PointedProps) {
  const middle = ((cell.column + 0.5) / map.times.length) * 100;
  const isHigh = cell.row >= map.bins.length / 2;
  return (
    <div aria-hidden="true" className="pointer-events-none absolute inset-0 z-20">
      <Frame map={map} region={regionOf(map, cellsBetween(cell, cell))} />
      <PointedTip
        text={text}
        note={
          isSelecting ? (
            'Release, or press Enter, to see what differs'
          ) : (
            <Opens what="these requests; drag to see what differs" />
          )
        }
        className={`max-w-[min(22rem,100%)] ${isHigh ? 'bottom-1' : 'top-1'}`}
        style={{ left: `${middle}%`, transform: `translateX(-${middle}%)` }}
      />
    </div>
  );
}

/** Explains shades and lines. */
export const HeatLegend = () => (
  <ul className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-muted" aria-label="Meaning of the heat map">
    <li className="flex items-center gap-1.5">
      few
      <svg viewBox={`0 0 ${SHADES} 1`} className="h-2.5 w-12" aria-hidden="true">
        {SHADE_LIST.map((shade) => (
          <rect key={shade} x={shade - 1} width="1" height="1" className={FILL} fillOpacity={OPACITIES[shade - 1]} />
        ))}
      </svg>
      many requests
    </li>
    {PERCENTILES.map((name) => (
      <li key={name} className="flex items-center gap-1.5">
        <svg viewBox="0 0 14 4" className="h-1 w-3.5" aria-hidden="true">
          <path d="M1 2h12" stroke={MEANING[name]} strokeWidth="2" />
        </svg>
        {name}
      </li>
    ))}
  </ul>
);
