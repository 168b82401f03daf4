import { type ReactNode, useMemo, useState } from 'react';
import { downloadText } from '../download-text';
import { EmptyState } from '../empty-state';
import { Download } from '../icons';
import { type Column, drawCell, isRight, type Sorting, sortRows, tableCsv } from './column';

export interface TableProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  /** Absent while they load. */
  readonly rows: readonly T[] | undefined;
  readonly rowKey: (row: T) => string;
  readonly onRow?: (row: T) => void;
  /** Said where there are no rows; and what to do about it. */
  readonly emptyTitle?: string;
  readonly emptyHint?: ReactNode;
  /** Heading of the column by which the rows are sorted at first, the largest first. */
  readonly sortBy?: string;
  readonly csvName?: string;
  /** Rows that are drawn while the real ones load. */
  readonly loadingRows?: number;
  /** Many columns: less room between them, 12 px, lower rows. */
  readonly dense?: boolean;
}

const HIDDEN = { false: '', true: 'max-md:hidden', very: 'max-xl:hidden', most: 'max-2xl:hidden' } as const;
const SIZES = {
  normal: { text: 'text-sm', padding: 'px-2 sm:px-3', height: 'h-9', widths: 'max-sm:max-w-28', width: 'max-w-72' },
  dense: {
    text: 'text-xs',
    padding: 'px-1.5 sm:px-2',
    height: 'h-[29px]',
    widths: 'max-sm:max-w-21',
    width: 'max-w-52',
  },
} as const;
type Size = (typeof SIZES)[keyof typeof SIZES];

const alignOf = <T,>(column: Column<T>) =>
  `${isRight(column) ? 'text-right nums' : 'text-left'} ${HIDDEN[`${column.wideOnly ?? false}`]}`;

/** Rows in columns, sorted by a click on a heading. */
export function DataTable<T extends object>(props: TableProps<T>) {
  const { caption, columns, rows, rowKey, onRow, sortBy, csvName, loadingRows = 5 } = props;
  const [sorting, setSorting] = useState<Sorting | null>(sortBy === undefined ? null : { header: sortBy, desc: true });
  const sorted = useMemo(() => rows && sortRows(rows, columns, sorting), [rows, columns, sorting]);
  if (rows?.length === 0) {
    return <EmptyState title={props.emptyTitle ?? 'Nothing here'}>{props.emptyHint}</EmptyState>;
  }
  const size = SIZES[props.dense ? 'dense' : 'normal'];
  return (
    <div className="relative overflow-x-auto">
      <table className={`w-full ${size.text}`}>
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b text-xs text-muted">
            {columns.map((column) => (
              <Heading key={column.header} {...{ column, size, sorting }} onSort={setSorting} />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted === undefined ? (
            <LoadingRows count={loadingRows} columns={columns.length} size={size} />
          ) : (
            sorted.map((row) => <Row key={rowKey(row)} {...{ row, columns, size, onRow }} />)
          )}
        </tbody>
      </table>
      {csvName !== undefined && rows !== undefined && (
        <div className="flex justify-end border-t px-2 sm:px-3 py-1">
          <button
            type="button"
            className="inline-flex items-center gap-1 rounded px-1 text-xs text-muted hover:text-text"
            onClick={() => downloadText(`${csvName}.csv`, tableCsv(columns, rows))}
          >
            <Download /> CSV
          </button>
        </div>
      )}
    </div>
  );
}

interface HeadingProps<T> {
  readonly column: Column<T>;
  readonly size: Size;
  readonly sorting: Sorting | null;
  readonly onSort: (sorting: Sorting) => void;
}

function Heading<T>({ column, size, sorting, onSort }: HeadingProps<T>) {
  const { header } = column;
  const sorted = sorting?.header === header ? sorting : undefined;
  const direction = sorted === undefined ? 'none' : sorted.desc ? 'descending' : 'ascending';
  return (
    <th scope="col" aria-sort={direction} className={`${size.padding} py-1.5 font-medium ${alignOf(column)}`}>
      <button
        type="button"
        className="relative rounded whitespace-nowrap hover:text-text"
        onClick={() => onSort({ header, desc: sorted === undefined ? isRight(column) : !sorted.desc })}
      >
        {header}
        <span aria-hidden="true" className={`absolute ${isRight(column) ? 'right-full pr-0.5' : 'left-full pl-0.5'}`}>
          {direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : ''}
        </span>
      </button>
    </th>
  );
}

interface LoadingProps {
  readonly count: number;
  readonly columns: number;
  readonly size: Size;
}

function LoadingRows({ count, columns, size }: LoadingProps) {
  return Array.from({ length: count }, (_, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: place holders have nothing else
    <tr key={index} className={`${size.height} border-b last:border-0`}>
      <td colSpan={columns} className={size.padding}>
        <div className="h-3 rounded bg-hover" />
      </td>
    </tr>
  ));
}

interface RowProps<T> {
  readonly row: T;
  readonly columns: readonly Column<T>[];
  readonly size: Size;
  readonly onRow: ((row: T) => void) | undefined;
}

function Row<T>({ row, columns, size, onRow }: RowProps<T>) {
  return (
    <tr
      className={`border-b last:border-0 ${onRow === undefined ? '' : 'cursor-pointer hover:bg-hover focus-visible:bg-hover'}`}
      tabIndex={onRow === undefined ? undefined : 0}
      onClick={() => onRow?.(row)}
      onKeyDown={(event) => event.key === 'Enter' && event.target === event.currentTarget && onRow?.(row)}
    >
      {columns.map((column) => (
        <td
          key={column.header}
          className={`${size.height} truncate ${size.widths} ${column.narrow ? 'max-w-32' : size.width} ${size.padding} ${alignOf(column)}`}
          title={column.narrow ? String(column.value(row) ?? '') : undefined}
        >
          {drawCell(column, row)}
        </td>
      ))}
    </tr>
  );
}
