import { Link, type LinkProps } from '@tanstack/react-router';
import { type KeyboardEvent, type MouseEvent, type ReactNode, useMemo, useState } from 'react';
import { formatCount } from '../../format/format-number';
import { downloadText } from '../download-text';
import { EmptyState } from '../empty-state';
import { Download } from '../icons';
import { type Column, drawCell, fromOrder, isRight, type Sorting, sortRows, tableCsv, toOrder } from './column';

export interface TableProps<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  /** Absent while they load. */
  readonly rows: readonly T[] | undefined;
  readonly rowKey: (row: T) => string;
  /** Link of a row: its first cell, and a click anywhere on it. */
  readonly linkOf?: (row: T) => RowLink | undefined;
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
  /** The table scrolls in its own frame, under its headings. */
  readonly sticky?: boolean;
  /** Many columns: less room between them, 12 px, lower rows. */
  readonly dense?: boolean;
}

/** A place in the dashboard. */
export interface RowLink {
  readonly to: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly search?: object | ((before: object) => object);
  readonly state?: object;
  readonly replace?: boolean;
  readonly resetScroll?: boolean;
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
  const { caption, columns, rows, rowKey, onRow, linkOf, sortBy, csvName, loadingRows = 5, isCut } = props;
  const { sticky, order } = props;
  const { sorting, sort, sorted, reset } = useSorted(props, sortBy);
  if (rows?.length === 0) {
    return <EmptyState title={props.emptyTitle ?? 'No data'}>{props.emptyHint}</EmptyState>;
  }
  const size = SIZES[props.dense ? 'dense' : 'normal'];
  return (
    <div
      className={`relative overflow-x-auto ${sticky ? 'max-h-[max(20rem,calc(100dvh-5rem))] overflow-y-auto rounded-[inherit]' : ''}`}
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
      <table className={`w-full ${size.text}`}>
        <caption className="sr-only">{caption}</caption>
        <Head {...{ columns, size, sorting, order, sticky }} lead={props.lead?.heading} onSort={sort} />
        <tbody>
          {sorted === undefined ? (
            <LoadingRows count={loadingRows} columns={columns.length} size={size} />
          ) : (
            sorted.map((row) => (
              <Row
                key={rowKey(row)}
                {...{ row, columns, size, onRow }}
                link={linkOf?.(row)}
                lead={props.lead?.cell(row)}
              />
            ))
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
      <tr className="border-b text-xs text-muted">
        {lead !== undefined && <th className="w-8 pl-3 text-left">{lead}</th>}
        {columns.map((column) => (
          <Heading
            key={column.header}
            {...{ column, size, sorting }}
            onSort={onSort}
            isFixed={order !== undefined && column.sortKey === undefined}
          />
        ))}
      </tr>
    </thead>
  );
}

interface HeadingProps<T> {
  readonly column: Column<T>;
  readonly size: Size;
  readonly sorting: Sorting | null;
  readonly onSort: (sorting: Sorting) => void;
  /** The server does not sort by it. */
  readonly isFixed: boolean;
}

function Heading<T>({ column, size, sorting, onSort, isFixed }: HeadingProps<T>) {
  const { header } = column;
  const cell = `${size.padding} py-1.5 font-medium whitespace-nowrap ${alignOf(column)}`;
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
  readonly link: RowLink | undefined;
  readonly lead: ReactNode;
}

const widthOf = <T,>({ wraps, narrow }: Column<T>, { widths, width }: Size) =>
  wraps ? 'min-w-32 py-1.5 wrap-anywhere sm:min-w-40' : `truncate ${widths} ${narrow ? 'max-w-32' : width}`;

const HEAD = '-outline-offset-2! block max-w-full truncate rounded text-left';

function Row<T>({ row, columns, size, onRow, link, lead }: RowProps<T>) {
  const leads = onRow !== undefined || link !== undefined;
  return (
    <tr
      className={`border-b last:border-0 ${leads ? 'cursor-pointer hover:bg-hover focus-within:bg-hover' : ''}`}
      onClick={leads ? followHead : undefined}
      onAuxClick={link === undefined ? undefined : followHead}
    >
      {lead !== undefined && <td className={`${size.height} w-8 pl-3`}>{lead}</td>}
      {columns.map((column, index) => (
        <td
          key={column.header}
          className={`${size.height} ${widthOf(column, size)} ${size.padding} ${alignOf(column)}`}
          title={column.narrow ? String(column.value(row) ?? '') : undefined}
        >
          {index > 0 || !leads ? (
            drawCell(column, row)
          ) : link !== undefined ? (
            <Link {...(link as LinkProps)} data-row className={HEAD} onKeyDown={followOnSpace}>
              {drawCell(column, row)}
            </Link>
          ) : (
            <button type="button" data-row className={HEAD} onClick={() => onRow?.(row)}>
              {drawCell(column, row)}
            </button>
          )}
        </td>
      ))}
    </tr>
  );
}

/** A click on a row triggers its link or button with the held keys, so Ctrl opens a new tab. */
function followHead(event: MouseEvent<HTMLTableRowElement>): void {
  const { target, currentTarget, nativeEvent } = event;
  const inner = target instanceof Element ? target.closest('a, button, input, select, label') : null;
  if (inner !== null && currentTarget.contains(inner)) {
    // Some browsers don't focus a clicked element.
    if (inner instanceof HTMLElement) inner.focus({ preventScroll: true });
    return;
  }
  if (!currentTarget.contains(target as Node) || nativeEvent.button > 1) return;
  const head = currentTarget.querySelector<HTMLElement>('[data-row]');
  if (head === null || getSelection()?.toString() !== '') return;
  head.focus({ preventScroll: true });
  const { ctrlKey, metaKey, shiftKey } = event;
  const isMiddle = nativeEvent.button === 1;
  head.dispatchEvent(
    new globalThis.MouseEvent('click', {
      ...{ bubbles: true, cancelable: true, ctrlKey: ctrlKey || isMiddle, metaKey, shiftKey },
    }),
  );
}

/** Space follows a row's link, as it presses a button. */
function followOnSpace(event: KeyboardEvent<HTMLAnchorElement>): void {
  if (event.key !== ' ') return;
  event.preventDefault();
  event.currentTarget.click();
}
