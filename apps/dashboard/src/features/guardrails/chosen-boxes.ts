/** Known names in the text; the full list if the text names none. */
export function chosenOf<T extends string>(text: string, known: readonly T[]): readonly T[] {
  const named = new Set<string>(text.split(/[\s,]+/));
  const chosen = known.filter((one) => named.has(one));
  return chosen.length === 0 ? known : chosen;
}

/** The text once one was ticked, or no longer is; empty for all. */
export function toggledIn<T extends string>(text: string, known: readonly T[], one: T): string {
  const chosen = new Set(chosenOf(text, known));
  if (!chosen.delete(one)) chosen.add(one);
  return chosen.size === known.length ? '' : known.filter((other) => chosen.has(other)).join(', ');
}
