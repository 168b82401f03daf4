import { useEffect, useRef, useState } from 'react';
import { type Column, drawCell } from './column';

interface Props<T> {
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly rowPx: number;
}

/**
 * Lets the browser's own search find rows that are not drawn: it reveals an element that is hidden until found, and
 * scrolls there, where the row is drawn. The texts are made when somebody begins to search.
 */
export function FindableRows<T>({ rows, columns, rowPx }: Props<T>) {
  const [isOn, setIsOn] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  // Other columns are no other text: opening a request narrows them.
  const latest = useRef(columns);
  latest.current = columns;
  useEffect(() => {
    const onKey = ({ key, ctrlKey, metaKey }: KeyboardEvent) => {
      if (key === 'F3' || (key === 'f' && (ctrlKey || metaKey))) setIsOn(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  useEffect(() => {
    const element = list.current;
    if (!isOn || element === null) return;
    const headPx = element.parentElement?.querySelector('thead')?.offsetHeight ?? 0;
    element.replaceChildren(...rows.map((row, at) => hiddenText(textOf(row, latest.current), headPx + at * rowPx)));
    return () => element.replaceChildren();
  }, [isOn, rows, rowPx]);
  return <div ref={list} aria-hidden="true" className="pointer-events-none whitespace-nowrap text-transparent" />;
}

function hiddenText(text: string, topPx: number): HTMLElement {
  const element = document.createElement('div');
  element.setAttribute('hidden', 'until-found');
  element.className = 'absolute inset-x-0 h-5 overflow-hidden';
  element.style.top = `${topPx}px`;
  element.textContent = text;
  return element;
}

/** What a row shows; raw values of cells that are more than text. */
function textOf<T>(row: T, columns: readonly Column<T>[]): string {
  const texts = columns.map((column) => {
    const drawn = drawCell(column, row);
    return typeof drawn === 'string' || typeof drawn === 'number' ? drawn : column.value(row);
  });
  return texts.filter((text) => text !== null).join('  ');
}
