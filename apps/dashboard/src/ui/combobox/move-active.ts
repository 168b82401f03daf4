/** Row after an arrow: the first or last one if none was highlighted; beyond an end, the other end. */
export function movedBy(active: number, by: 1 | -1, rows: number): number {
  if (active < 0) return by > 0 ? 0 : rows - 1;
  return (active + by + rows) % rows;
}

/** Row that Enter takes: the highlighted one, else the first match where typing selects; -1 for none. */
export const takenBy = (active: number, takesFirst: boolean): number => (active < 0 && takesFirst ? 0 : active);
