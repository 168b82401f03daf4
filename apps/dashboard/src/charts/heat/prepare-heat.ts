/** Most of the accent color in a cell: text on it stays readable in both themes. */
const DEEPEST_PERCENT = 45;
const FAINTEST_PERCENT = 4;

/** Percent of the accent color for an amount. Roots, since a few large amounts would leave all others white. */
export function shadeOf(amount: number, most: number): number {
  if (amount <= 0 || most <= 0) return 0;
  const share = Math.sqrt(Math.min(1, amount / most));
  return Math.round(FAINTEST_PERCENT + share * (DEEPEST_PERCENT - FAINTEST_PERCENT));
}

export interface GridPlace {
  readonly row: number;
  readonly column: number;
}

/** True for each cell with a link, by row. */
type Links = readonly (readonly boolean[])[];

export const hasLink = (links: Links, { row, column }: GridPlace): boolean => links[row]?.[column] === true;

/** First cell with a link, in reading order; null without one. */
export function firstLink(links: Links): GridPlace | null {
  const row = links.findIndex((cells) => cells.includes(true));
  return row < 0 ? null : { row, column: links[row]?.indexOf(true) ?? 0 };
}

const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ...{ ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] },
};

/** The nearest link in the direction of a key, or the same place; null for other keys. */
export function moveInGrid(place: GridPlace, key: string, links: Links): GridPlace | null {
  const own = links[place.row] ?? [];
  if (key === 'Home') return { ...place, column: own.indexOf(true) };
  if (key === 'End') return { ...place, column: own.lastIndexOf(true) };
  const step = STEPS[key];
  if (step === undefined) return null;
  let next = { row: place.row + step[0], column: place.column + step[1] };
  while (links[next.row]?.[next.column] !== undefined) {
    if (hasLink(links, next)) return next;
    next = { row: next.row + step[0], column: next.column + step[1] };
  }
  return place;
}
