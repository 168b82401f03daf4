/** Distinct for colour-blind readers, light and dark (after Okabe & Ito, and Tol's muted set). */
const PALETTE = [
  '#4c6ef5',
  '#12a594',
  '#f08c00',
  '#ae3ec9',
  '#2f9e44',
  '#e64980',
  '#1098ad',
  '#c2790b',
  '#7950f2',
  '#5c940d',
  '#d6336c',
  '#5b7083',
] as const;

/** Everything that is not a name of its own. */
export const OTHER_COLOR = '#8b929c';

/** Colours with a meaning. */
export const MEANING = {
  success: '#2f9e44',
  error: '#e03131',
  rate_limited: '#f08c00',
  cap_exceeded: '#ae3ec9',
  aborted: '#8b929c',
  p50: '#4c6ef5',
  p95: '#f08c00',
  p99: '#e03131',
  exact: '#12a594',
  semantic: '#7950f2',
  miss: '#a3abb6',
  caller: '#5b7083',
  policy: '#f08c00',
  provider: '#e03131',
  gateway: '#ae3ec9',
} as const;

/** Number of names with distinct colours. */
const DISTINCT = 10;

/** FNV-1a: stable in every browser. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return (value ^ (value >>> 15)) >>> 0;
}

const isNoName = (name: string) => name === '' || name === '(other)';

/** Default colour of a name, in any chart. */
export const colorOf = (name: string): string =>
  isNoName(name) ? OTHER_COLOR : (PALETTE[hash(name) % PALETTE.length] ?? OTHER_COLOR);

/**
 * Colours of names shown together, the most important first. Each keeps its own; the first ten never collide.
 * Collisions resolve by name, not by order.
 */
export function colorsOf(names: readonly string[]): (name: string) => string {
  const taken = new Map<string, string>();
  for (const name of names
    .filter((one) => !isNoName(one))
    .slice(0, DISTINCT)
    .sort()) {
    const used = new Set(taken.values());
    const at = hash(name) % PALETTE.length;
    const free = [...PALETTE.slice(at), ...PALETTE.slice(0, at)].find((color) => !used.has(color));
    taken.set(name, free ?? colorOf(name));
  }
  return (name) => taken.get(name) ?? colorOf(name);
}
