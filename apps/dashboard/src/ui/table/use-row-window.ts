import { type FocusEvent, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { prepareWindow, STEP, type WindowPart } from './prepare-window';

/** Height of a row until one is measured. */
const ROW_PX = 30;
/** A frame is at least so high. */
const LEAST_FRAME_PX = 320;
/** The heading is row 1 of the table, as screen readers count. */
export const FIRST_ROW = 2;
const DRAWN_ROW = 'tbody tr[aria-rowindex]';

interface Options<T> {
  /** false: all rows are drawn. */
  readonly isOn: boolean;
  readonly columns: readonly unknown[];
  readonly rows: readonly T[] | undefined;
  readonly rowKey: (row: T) => string;
  /** Row that stays drawn, beside the one of the focus. */
  readonly keptAt: number | undefined;
}

/** Draws the visible rows of a table that scrolls in its own frame. All rows have the same height. */
export function useRowWindow<T>({ isOn, columns, rows = [], rowKey, keptAt = -1 }: Options<T>) {
  const frame = useRef<HTMLDivElement>(null);
  const [scrolledPx, setScrolledPx] = useState(0);
  const [rowPx, setRowPx] = useState(ROW_PX);
  // A row with the focus must stay. Only scrolling could take it away, and scrolling draws anew.
  const focused = useRef<string | null>(null);
  const size = useSyncExternalStore(onResize, readSize);
  const hasRows = rows.length > 1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what gives rows another height
  useLayoutEffect(() => {
    if (isOn && hasRows) setRowPx((before) => measureRow(frame.current) ?? before);
  }, [isOn, hasRows, columns, size]);
  const stepPx = STEP * rowPx;
  const look = () => setScrolledPx(Math.floor((frame.current?.scrollTop ?? 0) / stepPx) * stepPx);
  // Another frame, or one of fewer rows, begins elsewhere.
  useLayoutEffect(() => {
    if (isOn) look();
  });
  const onFocus = ({ target }: FocusEvent) => {
    const row = rows[Number(target.closest('tr')?.ariaRowIndex) - FIRST_ROW];
    focused.current = row === undefined ? null : rowKey(row);
  };
  const onBlur = () => {
    focused.current = null;
  };
  if (!isOn) return { frame, rowPx, parts: [{ from: 0, to: rows.length }] satisfies WindowPart[] };
  const focusedAt = focused.current === null ? -1 : rows.findIndex((row) => rowKey(row) === focused.current);
  const kept = [keptAt, focusedAt].filter((at) => at >= 0);
  const framePx = Math.max(LEAST_FRAME_PX, innerHeight);
  const parts = prepareWindow({ count: rows.length, rowPx, scrolledPx, framePx, kept });
  return { frame, rowPx, parts, handlers: { onScroll: look, onFocus, onBlur } };
}

function onResize(onChange: () => void) {
  addEventListener('resize', onChange);
  return () => removeEventListener('resize', onChange);
}

const readSize = () => `${innerWidth} ${innerHeight}`;

/** Distance of two rows that follow each other; undefined without any. */
function measureRow(frame: HTMLElement | null): number | undefined {
  const drawn = [...(frame?.querySelectorAll<HTMLElement>(DRAWN_ROW) ?? [])];
  const at = drawn.findIndex((row, index) => isNext(drawn[index - 1], row));
  const [one, other] = [drawn[at - 1], drawn[at]];
  if (one === undefined || other === undefined) return undefined;
  const px = other.getBoundingClientRect().top - one.getBoundingClientRect().top;
  return px > 0 ? px : undefined;
}

const isNext = (one: HTMLElement | undefined, other: HTMLElement) =>
  one !== undefined && Number(other.ariaRowIndex) - Number(one.ariaRowIndex) === 1;
