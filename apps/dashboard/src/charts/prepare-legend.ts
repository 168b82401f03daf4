/** Names of the series that are shown; null: all of them. */
export type Shown = ReadonlySet<string> | null;

/** A click isolates a series, or shows all if it was alone; with a modifier it toggles the series. */
export function chooseSeries(shown: Shown, name: string, all: readonly string[], isModified: boolean): Shown {
  const visible = visibleNames(shown, all);
  if (!isModified) return visible.length === 1 && visible[0] === name && all.length > 1 ? null : new Set([name]);
  const chosen = visible.includes(name) ? visible.filter((one) => one !== name) : [...visible, name];
  return chosen.length === 0 || chosen.length === all.length ? null : new Set(chosen);
}

/** Shows everything if no chosen name exists any more. */
function visibleNames(shown: Shown, all: readonly string[]): readonly string[] {
  const visible = all.filter((name) => shown?.has(name) ?? true);
  return visible.length === 0 ? all : visible;
}

/** Visible range of a chart. */
export function visibleData<D extends { readonly series: readonly { readonly name: string }[] }>(
  data: D,
  shown: Shown,
  all: readonly string[],
): D {
  const names = new Set(visibleNames(shown, all));
  // Series of the previous period alone count only in the whole.
  const isWhole = names.size === all.length;
  return isWhole ? data : { ...data, series: data.series.filter(({ name }) => names.has(name)) };
}
