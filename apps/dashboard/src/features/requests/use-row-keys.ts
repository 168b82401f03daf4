import { useEffect, useRef } from 'react';

/** Keys → steps. Arrow keys move in a list, except in text fields. */
const STEPS: Readonly<Record<string, number>> = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
/** In the drawer up and down scroll. */
const OPEN_STEPS: Readonly<Record<string, number>> = { j: 1, k: -1, ArrowRight: 1, ArrowLeft: -1 };

const rowHeads = () => [...document.querySelectorAll<HTMLElement>('#main tbody [data-row]')];

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  target.closest('input, select, textarea, [contenteditable], [role=tab], [role=option], [role=img], pre') !== null;

interface Options {
  readonly isOpen: boolean;
  /** To the next (1) or the one before (-1) while one is open. */
  readonly onStep: (by: number) => void;
}

/** j/k and arrows go through the rows; while one is open, j/k and left/right through the open ones. */
export function useRowKeys(options: Options): void {
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { isOpen, onStep } = latest.current;
      const by = (isOpen ? OPEN_STEPS : STEPS)[event.key];
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
      if (by === undefined || !isPlain || event.defaultPrevented || isTyping(event.target)) return;
      if (isOpen) onStep(by);
      else if (!focusRow(by, event)) return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** Arrows scroll the page until a row has the focus. */
function focusRow(by: number, { key }: KeyboardEvent): boolean {
  if (document.querySelector('[role=dialog]') !== null) return false;
  const heads = rowHeads();
  const at = heads.indexOf(document.activeElement as HTMLElement);
  if (at < 0 && key.startsWith('Arrow')) return false;
  const next = heads[at < 0 ? 0 : Math.max(0, Math.min(heads.length - 1, at + by))];
  next?.focus();
  return next !== undefined;
}

/** Focuses the row of the closed request. */
export function focusRowOf(id: string): void {
  setTimeout(() =>
    rowHeads()
      .find((head) => head.getAttribute('href')?.includes(id))
      ?.focus({ preventScroll: true }),
  );
}
