/** A row of a list that is newest first. */
interface Row {
  readonly id: string;
  readonly created_at: string;
}

/** A page of such a list; null: no older row exists. */
interface RowPage<R extends Row> {
  readonly data: readonly R[];
  readonly next_cursor: string | null;
}

const msOf = ({ created_at }: Row) => Date.parse(created_at);

/**
 * Inserts new rows in order. Skips rows that are loaded, and rows older than all loaded ones. Returns the same pages if
 * nothing is new.
 */
export function placeRows<R extends Row, P extends RowPage<R>>(pages: readonly P[], came: readonly R[]): readonly P[] {
  const known = new Set(pages.flatMap(({ data }) => data.map(({ id }) => id)));
  const added = new Map<number, R[]>();
  for (const row of came) {
    if (known.has(row.id)) continue;
    known.add(row.id);
    const at = pageOf(pages, row);
    if (at !== null) added.set(at, [...(added.get(at) ?? []), row]);
  }
  if (added.size === 0) return pages;
  return pages.map((page, index) => {
    const rows = added.get(index);
    return rows === undefined ? page : { ...page, data: [...rows, ...page.data].sort((a, b) => msOf(b) - msOf(a)) };
  });
}

/** The first page that ends with an older row; null if no loaded page has room. */
function pageOf<R extends Row, P extends RowPage<R>>(pages: readonly P[], row: R): number | null {
  const index = pages.findIndex(({ data }) => {
    const last = data.at(-1);
    return last !== undefined && msOf(last) <= msOf(row);
  });
  if (index >= 0) return index;
  return pages.length > 0 && pages.at(-1)?.next_cursor === null ? pages.length - 1 : null;
}
