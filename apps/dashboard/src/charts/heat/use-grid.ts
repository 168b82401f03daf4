import { type KeyboardEvent, useRef, useState } from 'react';
import { firstLink, type GridPlace, hasLink, moveInGrid } from './prepare-heat';

/** Attributes of a link in a grid. */
export interface GridStop {
  readonly tabIndex: 0 | -1;
  readonly 'data-place': string;
  readonly onFocus: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** Roving focus: one link is a stop of Tab, and arrows move it. `links` is true for each cell with a link. */
export function useGrid(links: readonly (readonly boolean[])[]) {
  const table = useRef<HTMLTableElement>(null);
  const [place, setPlace] = useState<GridPlace | null>(null);
  const now = place !== null && hasLink(links, place) ? place : firstLink(links);
  const onKeyDown = (event: KeyboardEvent) => {
    if (now === null || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const next = moveInGrid(now, event.key, links);
    if (next === null) return;
    event.preventDefault();
    table.current?.querySelector<HTMLElement>(`[data-place="${next.row} ${next.column}"]`)?.focus();
  };
  const stopOf = (at: GridPlace): GridStop => ({
    tabIndex: now?.row === at.row && now.column === at.column ? 0 : -1,
    'data-place': `${at.row} ${at.column}`,
    onFocus: () => setPlace(at),
    onKeyDown,
  });
  return { table, stopOf };
}
