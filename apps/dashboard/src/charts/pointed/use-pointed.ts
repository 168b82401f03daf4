import { type FocusEvent, type KeyboardEvent, type MouseEvent, type PointerEvent, useRef, useState } from 'react';
import { moveByKey } from '../prepare-zoom';

/** A pointer over the element that takes the handlers. */
export type Pointing = MouseEvent<HTMLElement> | PointerEvent<HTMLElement>;

interface Options {
  /** Number of parts. */
  readonly count: number;
  /** Index of the part under the pointer; null for none. */
  readonly indexUnder: (event: Pointing) => number | null;
  readonly onChoose: (index: number) => void;
}

/** Index of the part under the pointer, or reached by keys; at first the last one. A second touch or Enter chooses it. */
export function usePointed({ count, indexUnder, onChoose }: Options) {
  const [at, setAt] = useState<number | null>(null);
  const touched = useRef<{ isTouch: boolean; index: number | null }>({ isTouch: false, index: null });
  const index = Math.min(at ?? count, count - 1);
  const handlers = {
    onPointerDown: ({ pointerType }: PointerEvent) => {
      touched.current.isTouch = pointerType === 'touch';
    },
    onPointerMove: (event: PointerEvent<HTMLElement>) => {
      if (event.pointerType !== 'touch') setAt(indexUnder(event));
    },
    onPointerLeave: ({ pointerType, currentTarget }: PointerEvent<HTMLElement>) => {
      // A pointer that rests while the page moves doesn't end reading by keys.
      if (pointerType !== 'touch' && !currentTarget.matches(':focus-visible')) setAt(null);
    },
    onClick: (event: MouseEvent<HTMLElement>) => {
      const under = indexUnder(event);
      const isFirstTouch = touched.current.isTouch && touched.current.index !== under;
      touched.current.index = under;
      setAt(under);
      if (!isFirstTouch && under !== null) onChoose(under);
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
