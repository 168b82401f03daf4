import type { WideOnly } from '../../../ui/table/column';

const KEY = 'llm0.requests.columns';

/** Where there is room for a column, its note is hidden: the opposite of the column itself. */
const HIDDEN_NOTES = {
  ...{ false: 'hidden', true: 'md:hidden', very: 'xl:hidden' },
  ...{ more: 'min-[87.5rem]:hidden', most: '2xl:hidden' },
} as const;

/** Class of the note that a chosen column has no room. `isNarrow`: what stands beside the list takes the room. */
export const noRoomClass = (wideOnly: WideOnly | undefined, isNarrow: boolean): string =>
  isNarrow && wideOnly !== undefined ? '' : HIDDEN_NOTES[`${wideOnly ?? false}`];

/** Chosen columns that still exist, in order; null: the default. */
export function readChosen(stored: string | null, all: readonly string[]): readonly string[] | null {
  try {
    const parsed: unknown = JSON.parse(stored ?? 'null');
    return Array.isArray(parsed) ? knownOnly(parsed, all) : null;
  } catch {
    return null;
  }
}

export function knownOnly(names: readonly unknown[], all: readonly string[]): readonly string[] | null {
  const known = [...new Set(names)].filter((name): name is string => all.some((one) => one === name));
  return known.length === 0 ? null : known;
}

/** One to the left (-1) or right (1). */
export function moved(names: readonly string[], name: string, by: -1 | 1): readonly string[] {
  const at = names.indexOf(name);
  const to = at + by;
  if (at < 0 || to < 0 || to >= names.length) return names;
  return names.with(at, names[to] ?? name).with(to, name);
}

/** Toggles a column: hides a visible one unless it is the last, or appends a hidden one. */
export function toggled(names: readonly string[], name: string): readonly string[] {
  if (!names.includes(name)) return [...names, name];
  return names.length === 1 ? names : names.filter((one) => one !== name);
}

/** Stored in this browser; without storage, until the page closes. */
export function loadChosen(all: readonly string[]): readonly string[] | null {
  try {
    return readChosen(localStorage.getItem(KEY), all);
  } catch {
    return null;
  }
}

export function keepChosen(names: readonly string[] | null): void {
  try {
    if (names === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(names));
  } catch {
    // A browser may refuse storage.
  }
}
