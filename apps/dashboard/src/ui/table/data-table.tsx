import { type ReactNode, useMemo, useState } from 'react';
import { formatCount } from '../../format/format-number';
import { downloadText } from '../download-text';
import { EmptyState } from '../empty-state';
import { Download } from '../icons';
import type { Place } from '../place-link';
import { type Column, columnAmounts, fromOrder, isRight, type Sorting, sortRows, tableCsv, toOrder } from './column';
import { FindableRows } from './findable-rows';
import type { WindowPart } from './prepare-window';
import { alignOf, LoadingRows, Row, type RowAnchor, SIZES, type Size } from './table-row';
import { FIRST_ROW, useRowWindow } from './use-row-window';

export type { RowAnchor };

export interface TableProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  /** Absent while they load. */
  readonly rows: readonly T[] | undefined;
  readonly rowKey: (row: T) => string;
  /** Link of a row: its first cell, and a click anywhere on it. */
  readonly linkOf?: (row: T) => Place | RowAnchor | undefined;
  /** Action of a row without a link: its first cell is a button. */
  readonly onRow?: (row: T) => void;
  /** Title and hint of an empty table. */
  readonly emptyTitle?: string;
  readonly emptyHint?: ReactNode;
  /** Heading of the column by which the rows are sorted at first, the largest first. */
  readonly sortBy?: string;
  readonly csvName?: string;
  /** Rows that are drawn while the real ones load. */
  readonly loadingRows?: number;
  /** More rows exist: sorting covers only these, with a note. */
  readonly isCut?: boolean;
  /** A narrow first column, e.g. for checkboxes. */
  readonly lead?: { readonly heading: ReactNode; readonly cell: (row: T) => ReactNode };
  /** Server-side order (`-cost_usd`), and the callback of headings. */
  readonly order?: { readonly by: string; readonly onChange: (order: string) => void };
  /** The table scrolls in its own frame, under its headings. Only visible rows are drawn; columns have a `width`. */
  readonly sticky?: boolean;
  /** Of such a table: the row that is always drawn. */
  readonly keptAt?: number;
  /** Many columns: less room between them, 12 px, lower rows. */
  readonly dense?: boolean;
}

/** Rows in columns, sorted by a click on a heading. */
export function DataTable<T extends object>(props: TableProps<T>) {
  const { caption, columns, rows, rowKey, sortBy, csvName, isCut, sticky = false, order, keptAt } = props;
  const { sorting, sort, sorted, reset } = useSorted(props, sortBy);
  const { frame, rowPx, parts, handlers } = useRowWindow({ isOn: sticky, columns, rows: sorted, rowKey, keptAt });
  if (rows?.length === 0) {
    return <EmptyState title={props.emptyTitle ?? 'No data'}>{props.emptyHint}</EmptyState>;
  }
  const size = SIZES[props.dense ? 'dense' : 'normal'];
  return (
    <div
      ref={frame}
      {...handlers}
      className={`relative overflow-x-auto ${sticky ? 'overflow-y-auto rounded-[inherit] max-md:max-h-[max(20rem,calc(100dvh-5rem))]' : ''}`}
    >
      {isCut && order === undefined && sorting !== null && rows !== undefined && (
        <p role="status" className="flex flex-wrap items-center gap-2 bg-warn-soft px-3 py-1.5 text-xs text-warn">
          Sorted by {sorting.header} among the {formatCount(rows.length)} loaded rows only; older rows may rank higher
          them.
          <button type="button" className="rounded underline" onClick={reset}>
            Sort newest first
          </button>
        </p>
      )}
      <table
        className={`w-full ${sticky ? 'table-fixed' : ''} ${size.text}`}
        aria-rowcount={sticky && sorted !== undefined ? sorted.length + 1 : undefined}
      >
        <caption className="sr-only">{caption}</caption>
        <Head {...{ columns, size, sorting, order, sticky }} lead={props.lead?.heading} onSort={sort} />
        <tbody>
          <Body {...{ table: props, sorted, size, parts }} />
        </tbody>
      </table>
      {sticky && sorted !== undefined && <FindableRows rows={sorted} {...{ columns, rowPx }} />}
      {csvName !== undefined && rows !== undefined && (
        <div className="flex justify-end border-t px-2 sm:px-3 py-1">
          <button
            type="button"
            className="touch-line inline-flex items-center gap-1 rounded px-1 text-xs text-muted hover:text-text"
            onClick={() => downloadText(`${csvName}.csv`, tableCsv(columns, rows))}
          >
            <Download /> CSV
          </button>
        </div>
      )}
    </div>
  );
}

interface BodyProps<T> {
  readonly table: TableProps<T>;
  readonly sorted: readonly T[] | undefined;
  readonly size: Size;
  readonly parts: readonly WindowPart[];
}

/** Drawn rows, with gaps in place of the others. */
function Body<T extends object>({ table, sorted, size, parts }: BodyProps<T>): ReactNode {
  const { columns, rowKey, onRow, linkOf, lead, sticky, loadingRows = 5 } = table;
  const amounts = useMemo(() => columnAmounts(columns, sorted ?? []), [columns, sorted]);
  if (sorted === undefined) return <LoadingRows count={loadingRows} {...{ columns, size }} />;
  return parts.flatMap((part, index) =>
    part.gapPx !== undefined ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a gap is nothing but its place
      // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row takes no focus
      <tr key={`gap ${index}`} aria-hidden="true" style={{ height: part.gapPx }}>
        <td />
      </tr>
    ) : (
      sorted
        .slice(part.from, part.to)
        .map((row, at) => (
          <Row
            key={rowKey(row)}
            {...{ row, columns, amounts, size, onRow }}
            link={linkOf?.(row)}
            lead={lead?.cell(row)}
            rowIndex={sticky ? part.from + at + FIRST_ROW : undefined}
          />
        ))
    ),
  );
}

/** Sorts by a click on a heading: here, or on the server with `order`. */
function useSorted<T>({ rows, columns, order }: TableProps<T>, sortBy: string | undefined) {
  const [own, setOwn] = useState<Sorting | null>(sortBy === undefined ? null : { header: sortBy, desc: true });
  const sorting = order === undefined ? own : fromOrder(columns, order.by);
  const sort = (asked: Sorting) => (order === undefined ? setOwn(asked) : order.onChange(toOrder(columns, asked)));
  const isHere = order === undefined;
  const sorted = useMemo(() => (isHere ? rows && sortRows(rows, columns, own) : rows), [rows, columns, own, isHere]);
  return { sorting, sort, sorted, reset: () => setOwn(null) };
}

interface HeadProps<T> extends Pick<TableProps<T>, 'columns' | 'order' | 'sticky'> {
  readonly size: Size;
  readonly sorting: Sorting | null;
  readonly lead: ReactNode;
  readonly onSort: (sorting: Sorting) => void;
}

function Head<T>({ columns, size, sorting, order, sticky, lead, onSort }: HeadProps<T>) {
  return (
    <thead className={sticky ? 'sticky top-0 z-10 bg-panel shadow-[inset_0_-1px_0_var(--c-line)]' : ''}>
      <tr aria-rowindex={sticky ? 1 : undefined} className="border-b text-xs text-muted">
        {lead !== undefined && <th className="w-8 pl-3 text-left">{lead}</th>}
        {columns.map((column) => (
          <Heading
            key={column.header}
            {...{ column, size, sorting, sticky }}
            onSort={onSort}
            isFixed={order !== undefined && column.sortKey === undefined}
          />
        ))}
      </tr>
    </thead>
  );
}

interface HeadingProps<T> extends Pick<TableProps<T>, 'sticky'> {
  readonly column: Column<T>;
  readonly size: Size;
  readonly sorting: Sorting | null;
  readonly onSort: (sorting: Sorting) => void;
  /** The server does not sort by it. */
  readonly isFixed: boolean;
}

/** Phones have no room for long headings in one line, unless the table has columns of fixed widths. */
const WRAPPED = 'max-sm:align-bottom max-sm:whitespace-normal';
const IN_LINE = 'max-sm:static max-sm:pl-0.5';

function Heading<T>({ column, size, sorting, sticky, onSort, isFixed }: HeadingProps<T>) {
  const { header } = column;
  const wrapping = sticky ? 'whitespace-nowrap' : `whitespace-nowrap ${WRAPPED}`;
  const cell = `${size.padding} py-1.5 font-medium ${wrapping} ${alignOf(column)} ${column.width ?? ''}`;
  if (isFixed) {
    return (
      <th scope="col" className={cell}>
        {header}
      </th>
    );
  }
  const sorted = sorting?.header === header ? sorting : undefined;
  const direction = sorted === undefined ? 'none' : sorted.desc ? 'descending' : 'ascending';
  return (
    <th scope="col" aria-sort={direction} className={cell}>
      <button
        type="button"
        className="touch-line relative rounded [text-align:inherit] hover:text-text"
        onClick={() => onSort({ header, desc: sorted === undefined ? isRight(column) : !sorted.desc })}
      >
        {header}
        <span
          aria-hidden="true"
          className={`absolute left-full ${sticky ? (isRight(column) ? '-ml-0.5' : 'pl-0.5') : IN_LINE}`}
        >
          {direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : ''}
        </span>
      </button>
    </th>
  );
}
