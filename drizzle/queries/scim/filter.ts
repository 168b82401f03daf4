import { type SQL, sql } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';

export type Comparison = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';

/** A filter of RFC 7644 whose attributes have their names of RFC 7643, and whose values have their types. */
export type ScimFilter =
  | { readonly op: 'and' | 'or'; readonly filters: readonly ScimFilter[] }
  | { readonly op: 'not'; readonly filter: ScimFilter }
  | { readonly op: '[]'; readonly attribute: string; readonly filter: ScimFilter }
  | { readonly op: 'pr'; readonly attribute: string }
  | { readonly op: Comparison; readonly attribute: string; readonly value: string | boolean | null };

/** Where an attribute is. */
export type Place =
  | { readonly kind: 'text' | 'exact' | 'boolean' | 'instant'; readonly at: SQL | AnyPgColumn }
  /** Rows of a list as `from` with their attributes; the list itself means its `value`. */
  | { readonly kind: 'list'; readonly from: SQL; readonly parts: Places };

export type Places = ReadonlyMap<string, Place>;

/** The condition of a filter; undefined if it names an attribute that has no place. */
export function conditionOf(filter: ScimFilter, places: Places): SQL | undefined {
  if ('filters' in filter) {
    const parts = filter.filters.map((one) => conditionOf(one, places));
    const known = parts.flatMap((part) => part ?? []);
    return known.length < parts.length ? undefined : sql`(${sql.join(known, sql.raw(` ${filter.op} `))})`;
  }
  if (filter.op === 'not') {
    const inner = conditionOf(filter.filter, places);
    return inner && sql`(not coalesce(${inner}, false))`;
  }
  const place = places.get(filter.attribute);
  if (place === undefined) return undefined;
  if (filter.op === '[]') {
    const inner = place.kind === 'list' ? conditionOf(filter.filter, place.parts) : undefined;
    return inner && place.kind === 'list' ? existsIn(place.from, inner) : undefined;
  }
  if (place.kind !== 'list') return filter.op === 'pr' ? isPresent(place.at) : compare(place, filter);
  if (filter.op === 'pr') return existsIn(place.from, sql`true`);
  const inner = conditionOf({ ...filter, attribute: 'value' }, place.parts);
  return inner && existsIn(place.from, inner);
}

const existsIn = (from: SQL, condition: SQL) => sql`exists (select 1 from ${from} where ${condition})`;
const isPresent = (at: SQL | AnyPgColumn) => sql`(${at} is not null)`;

type Single = Exclude<Place, { kind: 'list' }>;

/** What isn't there equals nothing. */
function compare({ kind, at }: Single, { op, value }: Extract<ScimFilter, { op: Comparison }>): SQL {
  if (value === null) return op === 'ne' ? isPresent(at) : sql`(${at} is null)`;
  if (kind === 'boolean') return sql`(${at} is ${op === 'ne' ? sql`distinct` : sql`not distinct`} from ${value})`;
  if (kind === 'instant') return COMPARISONS[op](sql`${at}`, sql`${value}::timestamptz`);
  const text = kind === 'text' ? String(value).toLowerCase() : value;
  return COMPARISONS[op](kind === 'text' ? sql`lower(${at}::text)` : sql`${at}::text`, sql`${text}::text`);
}

const COMPARISONS: Readonly<Record<Comparison, (at: SQL, value: SQL) => SQL>> = {
  eq: (at, value) => sql`${at} = ${value}`,
  ne: (at, value) => sql`${at} is distinct from ${value}`,
  co: (at, value) => sql`position(${value} in ${at}) > 0`,
  sw: (at, value) => sql`starts_with(${at}, ${value})`,
  ew: (at, value) => sql`right(${at}, length(${value})) = ${value}`,
  gt: (at, value) => sql`${at} > ${value}`,
  ge: (at, value) => sql`${at} >= ${value}`,
  lt: (at, value) => sql`${at} < ${value}`,
  le: (at, value) => sql`${at} <= ${value}`,
};
