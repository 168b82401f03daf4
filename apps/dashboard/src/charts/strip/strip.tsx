import {
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type PointerEvent,
  useId,
  useRef,
  useState,
} from 'react';
import { moveByKey } from '../prepare-zoom';
import { BAR_PITCH, type Bar, barAt, HEALTH_LABELS, type Health, opensOf, pathOf, STRIP_HEIGHT } from './prepare-strip';

const FILLS = {
  none: 'fill-line-strong forced-colors:fill-[CanvasText]',
  fine: 'fill-good forced-colors:fill-[CanvasText]',
  some: 'fill-warn forced-colors:fill-[CanvasText]',
  mostly: 'fill-bad forced-colors:fill-[CanvasText]',
} as const satisfies Record<Health, string>;
const HEALTHS = Object.keys(HEALTH_LABELS) as Health[];

interface Props {
  readonly label: string;
  readonly bars: readonly Bar[];
  readonly describe: (bar: Bar) => string;
  readonly onSelect: (bar: Bar) => void;
}

/** Thin bars over time. A click, a second touch or Enter selects one; arrows move between them. */
export function Strip({ label, bars, describe, onSelect }: Props) {
  const hintId = useId();
  const { isShown, index, handlers } = usePointedBar(bars.length, (chosen) => {
    const bar = bars[chosen];
    if (bar !== undefined) onSelect(bar);
  });
  const bar = bars[index];
  return (
    <div className="relative h-5">
      <Bars bars={bars} />
      {isShown && bar !== undefined && (
        <Pointed {...{ index, count: bars.length }} text={describe(bar)} opens={opensOf(bar)} />
      )}
      <div
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={bars.length - 1}
        aria-valuenow={index}
        aria-valuetext={bar && describe(bar)}
        aria-describedby={hintId}
        className="absolute inset-0 cursor-pointer rounded-sm"
        {...handlers}
      />
      <span id={hintId} className="sr-only">
        Use the arrow keys to move. Press Enter to see the requests.
      </span>
    </div>
  );
}

/** Index of the bar under the pointer, or reached by keys; at first the last one. */
function usePointedBar(count: number, onChoose: (index: number) => void) {
  const [at, setAt] = useState<number | null>(null);
  const touched = useRef<{ isTouch: boolean; index: number | null }>({ isTouch: false, index: null });
  const index = Math.min(at ?? count, count - 1);
  const handlers = {
    onPointerDown: ({ pointerType }: PointerEvent) => {
      touched.current.isTouch = pointerType === 'touch';
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      if (event.pointerType !== 'touch') setAt(indexUnder(event, count));
    },
    onPointerLeave: ({ pointerType, currentTarget }: PointerEvent<HTMLElement>) => {
      // A pointer that rests while the page moves doesn't end reading by keys.
      if (pointerType !== 'touch' && !currentTarget.matches(':focus-visible')) setAt(null);
    },
    onClick: (event: MouseEvent<HTMLElement>) => {
      const under = indexUnder(event, count);
      const isFirstTouch = touched.current.isTouch && touched.current.index !== under;
      touched.current.index = under;
      setAt(under);
      if (!isFirstTouch) onChoose(under);
    },
    onFocus: ({ currentTarget }: FocusEvent<HTMLElement>) => {
      if (currentTarget.matches(':focus-visible')) setAt(index);
    },
    onBlur: () => {
      touched.current.index = null;
      setAt(null);
    },
    onKeyDown: (event: KeyboardEvent) => {
      const isPlain = !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
      const next = isPlain ? moveByKey({ index, anchor: null }, event, count) : null;
      if (next !== null) setAt(next.index);
      else if (event.key === 'Enter') onChoose(index);
      else if (event.key === 'Escape' && at !== null) setAt(null);
      else return;
      event.preventDefault();
    },
  };
  return { isShown: at !== null, index, handlers };
}

function indexUnder({ clientX, currentTarget }: MouseEvent<HTMLElement> | PointerEvent<HTMLElement>, count: number) {
  const { left, width } = currentTarget.getBoundingClientRect();
  return barAt((clientX - left) / width, count);
}

const Bars = memo(({ bars }: Pick<Props, 'bars'>) => (
  <svg
    viewBox={`0 0 ${bars.length * BAR_PITCH} ${STRIP_HEIGHT}`}
    preserveAspectRatio="none"
    className="absolute inset-0 size-full"
    aria-hidden="true"
  >
    {HEALTHS.map((health) => (
      <path key={health} d={pathOf(bars, health)} className={FILLS[health]} />
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
function Pointed({ index, count, text, opens }: PointedProps) {
  const middle = ((index + 0.5) / count) * 100;
  return (
    <div aria-hidden="true" className="pointer-events-none absolute inset-0 z-20">
      <span
        className="absolute -inset-y-0.5 min-w-1 rounded-xs border border-text"
        style={{ left: `${(index / count) * 100}%`, width: `${100 / count}%` }}
      />
      <p
        className="absolute top-full mt-1 w-max max-w-[min(24rem,100%)] rounded-md border border-line-strong bg-panel px-2.5 py-1.5 text-xs shadow-md"
        style={{ left: `${middle}%`, transform: `translateX(-${middle}%)` }}
      >
        {text}
        <span className="block text-muted">
          <span className="[@media(hover:none)]:hidden">Click opens </span>
          <span className="hidden [@media(hover:none)]:inline">Tap again for </span>
          {opens}
        </span>
      </p>
    </div>
  );
}

/** Explains the bars. */
export const StripLegend = () => (
  <ul className="flex flex-wrap gap-x-3 gap-y-1" aria-label="Meaning of the bars">
    {HEALTHS.map((health) => (
      <li key={health} className="flex items-center gap-1.5">
        <svg viewBox={`0 0 ${BAR_PITCH} ${STRIP_HEIGHT}`} className="h-3 w-1.5" aria-hidden="true">
          <path d={pathOf([{ health, requests: 4, failed: 1 }], health)} className={FILLS[health]} />
        </svg>
        {HEALTH_LABELS[health]}
      </li>
    ))}
  </ul>
);
