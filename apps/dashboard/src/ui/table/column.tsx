import type { ReactNode } from 'react';
import { toCsv } from '../../format/csv';
import { NOTHING } from '../../format/format-number';
import { formatStamp, type TimeZoneChoice } from '../../format/format-time';
import { formatBeside } from '../../format/format-usd';
import { UNITS, type Unit } from '../../format/units';
import { Badge, type Tone } from '../badge';

export type WideOnly = boolean | 'very' | 'more' | 'most';

export interface Column<T> {
  /** Its own in the table. */
  readonly header: string;
  /** For sorting and the CSV file; null sorts last. */
  readonly value: (row: T) => string | number | null;
  /** Format of the value; default: with its unit, as `amount` has it. */
  readonly cell?: (row: T, amount: ReactNode) => ReactNode;
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

/** How a column of money draws its numbers. */
export interface AmountFormat {
  readonly format: (value: number) => string;
  /** Most decimals of the column: shorter amounts keep that room, so that points stand below each other. */
  readonly places: number;
}

/** Content of a cell. */
export function drawCell<T>(column: Column<T>, row: T, amounts?: AmountFormat): ReactNode {
  const { unit, none = NOTHING, cell, tone } = column;
  const value = column.value(row);
  const isNumber = typeof value === 'number' && unit !== undefined;
  const drawn = isNumber ? drawNumber(value, amounts ?? { format: UNITS[unit].full, places: 0 }) : (value ?? none);
  if (cell !== undefined) return cell(row, drawn);
  return tone === undefined || value === null ? drawn : <Badge tone={tone(row)}>{value}</Badge>;
}

function drawNumber(value: number, { format, places }: AmountFormat): ReactNode {
  const text = format(value);
  const own = placesOf(text);
  // $120K has no decimals.
  if (own === 0 || own >= places) return text;
  return <span style={{ paddingRight: `${places - own}ch` }}>{text}</span>;
}

const placesOf = (text: string) => /\.(\d+)$/.exec(text)?.[1]?.length ?? 0;

const MONEY: readonly (Unit | undefined)[] = ['usd', 'cost', 'price'];
/** Rows that are looked at; one further down may stand out. */
const LOOKED_AT = 200;

/** Formats of the columns of money; undefined for others. Sums have equal decimals. */
export function columnAmounts<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
): readonly (AmountFormat | undefined)[] {
  const seen = rows.slice(0, LOOKED_AT);
  return columns.map(({ unit, value }) => {
    if (unit === undefined || !MONEY.includes(unit)) return undefined;
    const amounts = seen.map(value).filter((amount) => typeof amount === 'number');
    const format = unit === 'usd' ? formatBeside(amounts) : UNITS[unit].full;
    return { format, places: Math.max(0, ...amounts.map((amount) => placesOf(format(amount)))) };
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
