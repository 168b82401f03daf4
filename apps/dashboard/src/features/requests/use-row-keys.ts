import { useEffect, useRef } from 'react';

type Steps = Readonly<Record<string, number>>;
/** Keys → steps. Arrow keys move in a list, except in text fields. */
const STEPS: Steps = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };
/** In an open request up and down scroll. */
const OPEN_STEPS: Steps = { j: 1, k: -1, ArrowRight: 1, ArrowLeft: -1 };

const ROW = '[data-row]';
const FIELDS = 'input, select, textarea, [contenteditable]';
const OWN_ARROWS = `${FIELDS}, [role=tab], [role=option], [role=img], [role=slider], pre`;

const isIn = (target: EventTarget | null, selector: string) =>
  target instanceof Element && target.closest(selector) !== null;
const rowHeads = () => [...document.querySelectorAll<HTMLElement>(`#main tbody ${ROW}`)];
const headOf = (id: string) => rowHeads().find((head) => head.getAttribute('href')?.includes(`open=${id}`));

interface Options {
  readonly isOpen: boolean;
  /** An open one stands beside the list, not over it. */
  readonly isBeside: boolean;
  /** To the next (1) or the one before (-1) while one is open; false without one. */
  readonly onStep: (by: number) => boolean;
  readonly onClose: () => void;
}

/** j/k and arrows go through the rows, or through the open ones; left and right do so from inside an open one. */
export function useRowKeys(options: Options): void {
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
      if (isPlain && !event.defaultPrevented && takeKey(event, latest.current)) event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** True if the key was for the list or for the open request. */
function takeKey(event: KeyboardEvent, { isOpen, isBeside, onStep, onClose }: Options): boolean {
  const { key, target } = event;
  // A dialog over the list, or over the drawer, has the keys.
  const dialogs = document.querySelectorAll('[role=dialog]').length;
  if (dialogs > (isOpen && !isBeside ? 1 : 0)) return false;
  if (key === 'Escape') {
    const closes = isOpen && isBeside && !isIn(target, FIELDS);
    if (closes) onClose();
    return closes;
  }
  const isInList = !isOpen || isIn(target, ROW);
  const by = (isInList ? STEPS : OPEN_STEPS)[key];
  if (by === undefined || isIn(target, OWN_ARROWS)) return false;
  return (isOpen && onStep(by)) || (isInList && focusRow(by, key));
}

/** Arrows scroll the page until a row has the focus. */
function focusRow(by: number, key: string): boolean {
  const heads = rowHeads();
  const at = heads.indexOf(document.activeElement as HTMLElement);
  if (at < 0 && key.startsWith('Arrow')) return false;
  const next = heads[at < 0 ? 0 : Math.max(0, Math.min(heads.length - 1, at + by))];
  next?.focus();
  return next !== undefined;
}

/** Focuses the row of the closed request. */
export function focusRowOf(id: string): void {
  setTimeout(() => headOf(id)?.focus({ preventScroll: true }));
}

/** Shows the row of the request that took the open one's place. A focus in the list goes along. */
export function followRowOf(id: string): void {
  const head = headOf(id);
  head?.scrollIntoView({ block: 'nearest' });
  if (document.activeElement?.matches(ROW)) head?.focus({ preventScroll: true });
}
