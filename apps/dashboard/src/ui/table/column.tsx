import type { ReactNode } from 'react';
import { toCsv } from '../../format/csv';
import { NOTHING } from '../../format/format-number';
import { formatStamp, type TimeZoneChoice } from '../../format/format-time';
import { formatPlaces } from '../../format/format-usd';
import { UNITS, type Unit } from '../../format/units';
import { Badge, type Tone } from '../badge';

export type WideOnly = boolean | 'very' | 'more' | 'most';

export interface Column<T> {
  /** Its own in the table. */
  readonly header: string;
  /** For sorting and the CSV file; null sorts last. */
  readonly value: (row: T) => string | number | null;
  /** Format of the value; default: with its unit. */
  readonly cell?: (row: T) => ReactNode;
  /** Unit of a numeric column, which is right-aligned in tabular digits. */
  readonly unit?: Unit;
  /** Drawn as a badge. */
  readonly tone?: (row: T) => Tone;
  /** Text for a missing number. */
  readonly none?: string;
  /** For numbers that have a cell of their own. */
  readonly align?: 'right';
  /** Hidden on phones; `very`: also below 1280 px, `more`: below 1400 px, `most`: below 1536 px. */
  readonly wideOnly?: WideOnly;
  /** Sort field on the server, if the column is sortable. */
  readonly sortKey?: string;
  /** Longer text ends in an ellipsis: for columns that must leave others their room. */
  readonly narrow?: boolean;
  /** Class of its width, where the table scrolls in its own frame. */
  readonly width?: string;
  /** Wraps text that would be useless when cut. */
  readonly wraps?: boolean;
}

export const isRight = <T,>({ align, unit }: Column<T>): boolean => align === 'right' || unit !== undefined;

/** Content of a cell. `places`: decimals of its column, so that points stand below each other. */
export function drawCell<T>(column: Column<T>, row: T, places = 0): ReactNode {
  const { unit, none = NOTHING } = column;
  if (column.cell !== undefined) return column.cell(row);
  const value = column.value(row);
  if (column.tone !== undefined) return value === null ? none : <Badge tone={column.tone(row)}>{value}</Badge>;
  if (typeof value !== 'number' || unit === undefined) return value ?? none;
  const text = UNITS[unit].full(value);
  const missing = places - placesOf(text);
  if (places === 0 || missing === 0) return text;
  // An amount further down may be smaller than those that were looked at.
  if (missing < 0 && Math.abs(value) < CENT) return text;
  // Neither zero nor $120K has more decimals. They keep the others' room.
  const isWhole = value === 0 || !text.includes('.');
  return isWhole ? <span style={{ paddingRight: `${missing}ch` }}>{text}</span> : formatPlaces(value, places);
}

const placesOf = (text: string) => /\.(\d+)$/.exec(text)?.[1]?.length ?? 0;

/** Small amounts have more decimals than large ones. */
const MONEY: readonly (Unit | undefined)[] = ['usd', 'price'];
/** Rows that are looked at; one further down may stand out. */
const LOOKED_AT = 200;

const CENT = 0.01;
const CENTS = 2;

/** Decimals of each column of money: cents beside a dollar and more, or as many as amounts below a cent need. */
export function columnPlaces<T>(columns: readonly Column<T>[], rows: readonly T[]): readonly number[] {
  const seen = rows.slice(0, LOOKED_AT);
  return columns.map(({ unit, cell, value }) => {
    if (unit === undefined || cell !== undefined || !MONEY.includes(unit)) return 0;
    const amounts = seen.map((row) => Math.abs(Number(value(row)))).filter((amount) => amount > 0);
    if (unit === 'usd' && Math.max(...amounts) >= 1 && Math.min(...amounts) >= CENT) return CENTS;
    const texts = seen.map(value).map((amount) => (typeof amount === 'number' ? UNITS[unit].full(amount) : ''));
    return Math.max(0, ...texts.map(placesOf));
  });
}

/** Time of a row. */
export const timeColumn = <T extends { readonly created_at: string }>(timeZone: TimeZoneChoice): Column<T> => ({
  header: `Time (${timeZone === 'utc' ? 'UTC' : 'local'})`,
  value: (row) => row.created_at,
  cell: (row) => <Stamp text={formatStamp(row.created_at, timeZone)} />,
});

const YEAR = '2026-'.length;

/** Phones have no room for the year, and show day and time below each other. */
function Stamp({ text }: { readonly text: string }) {
  const [day = '', clock] = text.slice(YEAR).split(' ');
  return (
    <span className="nums" title={text}>
      <span className="max-sm:hidden">{text.slice(0, YEAR)}</span>
      <span className="max-sm:block max-sm:text-2xs max-sm:text-muted">{day} </span>
      {clock}
    </span>
  );
}

export interface Sorting {
  readonly header: string;
  readonly desc: boolean;
}

/** An order of the server's: a field, the largest first with a minus. */
export const fromOrder = <T,>(columns: readonly Column<T>[], order: string): Sorting | null => {
  const desc = order.startsWith('-');
  const column = columns.find(({ sortKey }) => sortKey === (desc ? order.slice(1) : order));
  return column === undefined ? null : { header: column.header, desc };
};

export const toOrder = <T,>(columns: readonly Column<T>[], { header, desc }: Sorting): string =>
  `${desc ? '-' : ''}${columns.find((column) => column.header === header)?.sortKey}`;

/** Sorts rows by a column; missing values come last in both directions. */
export function sortRows<T>(rows: readonly T[], columns: readonly Column<T>[], sorting: Sorting | null): readonly T[] {
  const column = columns.find(({ header }) => header === sorting?.header);
  if (column === undefined) return rows;
  const sign = sorting?.desc ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [column.value(one), column.value(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return a === b ? 0 : a > b ? sign : -sign;
  });
}

/** Table as a file. */
export const tableCsv = <T,>(columns: readonly Column<T>[], rows: readonly T[]): string =>
  toCsv([columns.map(({ header }) => header), ...rows.map((row) => columns.map(({ value }) => value(row)))]);
