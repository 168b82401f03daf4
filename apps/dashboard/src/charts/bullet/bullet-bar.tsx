import type { Bullet } from './prepare-bullet';

const TICK = 'M-3.5 0h7l-2.5 4v10h-2v-10z';
const colorOf = (isPassed: boolean) => `${isPassed ? 'fill-bad' : 'fill-muted'} forced-colors:fill-[CanvasText]`;

/** The bar is the amount, the line its limit, the tick the forecast. Color says that one passes the limit. */
export const BulletBar = ({ spent, cap, forecast, passes }: Bullet) => (
  <svg className="block h-3.5 w-full overflow-visible" aria-hidden="true">
    <rect
      y="4"
      width="100%"
      height="6"
      rx="2"
      className="fill-line forced-colors:fill-[Canvas] forced-colors:stroke-[CanvasText]"
    />
    <rect y="4" width={`${spent}%`} height="6" rx="2" className={colorOf(passes === 'spent')} />
    <CapLine at={cap} />
    {forecast !== null && <Tick at={forecast} isPassed={passes !== null} />}
  </svg>
);

const CapLine = ({ at }: { readonly at: number }) => (
  <rect x={`${at}%`} y="0" width="2" height="14" className="fill-text forced-colors:fill-[CanvasText]" />
);

const Tick = ({ at, isPassed }: { readonly at: number; readonly isPassed: boolean }) => (
  <svg x={`${at}%`} className={`overflow-visible ${colorOf(isPassed)}`} aria-hidden="true">
    <path d={TICK} />
  </svg>
);

const SIGN = 'h-3.5 w-4 overflow-visible';

/** Explains the parts of a bar. */
export const BulletLegend = () => (
  <ul className="flex flex-wrap gap-x-3 gap-y-1" aria-label="Meaning of the bars">
    <li className="flex items-center gap-1.5">
      <svg className={SIGN} aria-hidden="true">
        <rect y="4" width="100%" height="6" rx="2" className={colorOf(false)} />
      </svg>
      Spent
    </li>
    <li className="flex items-center gap-1">
      <svg className={SIGN} aria-hidden="true">
        <CapLine at={50} />
      </svg>
      Limit
    </li>
    <li className="flex items-center gap-1">
      <svg className={SIGN} aria-hidden="true">
        <Tick at={50} isPassed={false} />
      </svg>
      Forecast for the month
    </li>
  </ul>
);
