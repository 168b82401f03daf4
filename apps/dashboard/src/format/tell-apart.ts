interface Named {
  readonly id: string;
  readonly name: string;
}

/** Ids with their names, by name: `Team 2` is before `Team 10`. */
export const sortedByName = (names: ReadonlyMap<string, string>): readonly (readonly [id: string, name: string])[] =>
  [...names].sort(([, a], [, b]) => a.localeCompare(b, 'en', { numeric: true }));

/** Names that occur more than once. */
export function repeatedNames(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(names.filter((name) => seen.has(name) || !seen.add(name)));
}

/** Ids → names that differ: one of several is completed by its owner if that is enough, else by its id. */
export function tellApart<T extends Named>(
  all: readonly T[],
  ownerOf: (one: T) => string | undefined = () => undefined,
): ReadonlyMap<string, string> {
  const repeated = repeatedNames(all.map(({ name }) => name));
  const owned = all.map((one) => {
    const owner = repeated.has(one.name) ? ownerOf(one) : undefined;
    return { ...one, full: owner === undefined ? one.name : `${one.name} (${owner})` };
  });
  const still = repeatedNames(owned.map(({ full }) => full));
  const short = owned.map(({ id, name, full }) => ({
    id,
    full: still.has(full) ? `${name} (${id.slice(0, 8)})` : full,
  }));
  const taken = repeatedNames(short.map(({ full }) => full));
  return new Map(short.map(({ id, full }) => [id, taken.has(full) ? `${full} (${id})` : full]));
}
