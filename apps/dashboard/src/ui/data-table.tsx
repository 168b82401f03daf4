import {
  type ColumnDef,
  createSortedRowModel,
  rowSortingFeature,
  type SortingState,
  sortFn_basic,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { type ReactNode, useMemo, useState } from 'react';
import { csvCell } from '../charts/prepare-series';
import { downloadText } from './download-text';
import { EmptyState } from './empty-state';
import { Download } from './icons';

export interface Column<T> {
  readonly id: string;
  readonly header: string;
  /** For sorting and the CSV file; null sorts last. */
  readonly value: (row: T) => string | number | null;
  /** How it is drawn; the value itself unless given. */
  readonly cell?: (row: T) => ReactNode;
  /** Numbers stand right, in tabular digits. */
  readonly align?: 'right';
  /** Left out on phones; `very`: also below 1280 px, `most`: below 1536 px. */
  readonly wideOnly?: boolean | 'very' | 'most';
  /** Longer text ends in an ellipsis: for columns that must leave others their room. */
  readonly narrow?: boolean;
}

interface Props<T> {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[] | undefined;
  readonly rowKey: (row: T) => string;
  readonly onRow?: (row: T) => void;
  readonly empty?: ReactNode;
  readonly sortBy?: { readonly id: string; readonly desc: boolean };
  readonly csvName?: string;
  /** Rows that are drawn while the real ones load. */
  readonly loadingRows?: number;
  /** Many columns: less room between them, 12 px, lower rows. */
  readonly dense?: boolean;
}

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { basic: sortFn_basic },
});

const HIDDEN = { false: '', true: 'max-md:hidden', very: 'max-xl:hidden', most: 'max-2xl:hidden' } as const;

/** Rows in columns, sorted by a click on a heading. */
export function DataTable<T extends object>(props: Props<T>) {
  const { caption, columns, rows, rowKey, onRow, sortBy, csvName, loadingRows = 5, dense = false } = props;
  const [sorting, setSorting] = useState<SortingState>(sortBy === undefined ? [] : [{ ...sortBy }]);
  const data = useMemo(() => [...(rows ?? [])], [rows]);
  const definitions = useMemo(() => columns.map((column) => toDefinition(column)), [columns]);
  const table = useTable({
    features,
    columns: definitions,
    data,
    state: { sorting },
    onSortingChange: setSorting,
    getRowId: (row) => rowKey(row),
  });
  if (rows?.length === 0) return props.empty ?? <EmptyState title="Nothing here" />;
  const alignOf = (column: Column<T>) =>
    `${column.align === 'right' ? 'text-right nums' : 'text-left'} ${HIDDEN[`${column.wideOnly ?? false}`]}`;
  const padding = dense ? 'px-1.5 sm:px-2' : 'px-2 sm:px-3';
  const height = dense ? 'h-[29px]' : 'h-9';
  return (
    <div className="relative overflow-x-auto">
      <table className={`w-full ${dense ? 'text-xs' : 'text-sm'}`}>
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="border-b text-xs text-muted">
            {columns.map((column) => {
              const sorted = sorting.find(({ id }) => id === column.id);
              const direction = sorted === undefined ? 'none' : sorted.desc ? 'descending' : 'ascending';
              return (
                <th
                  key={column.id}
                  scope="col"
                  aria-sort={direction}
                  className={`${padding} py-1.5 font-medium ${alignOf(column)}`}
                >
                  <button
                    type="button"
                    className="relative rounded whitespace-nowrap hover:text-text"
                    onClick={() =>
                      setSorting([
                        { id: column.id, desc: sorted === undefined ? column.align === 'right' : !sorted.desc },
                      ])
                    }
                  >
                    {column.header}
                    <span
                      aria-hidden="true"
                      className={`absolute ${column.align === 'right' ? 'right-full pr-0.5' : 'left-full pl-0.5'}`}
                    >
                      {direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : ''}
                    </span>
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {rows === undefined
            ? Array.from({ length: loadingRows }, (_, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: place holders have nothing else
                <tr key={index} className={`${height} border-b last:border-0`}>
                  <td colSpan={columns.length} className={padding}>
                    <div className="h-3 rounded bg-hover" />
                  </td>
                </tr>
              ))
            : table.getRowModel().rows.map(({ id, original }) => (
                <tr
                  key={id}
                  className={`border-b last:border-0 ${onRow === undefined ? '' : 'cursor-pointer hover:bg-hover focus-visible:bg-hover'}`}
                  tabIndex={onRow === undefined ? undefined : 0}
                  onClick={() => onRow?.(original)}
                  onKeyDown={(event) =>
                    event.key === 'Enter' && event.target === event.currentTarget && onRow?.(original)
                  }
                >
                  {columns.map((column) => (
                    <td
                      key={column.id}
                      className={`${height} truncate ${dense ? 'max-sm:max-w-21' : 'max-sm:max-w-28'} ${column.narrow ? 'max-w-32' : dense ? 'max-w-52' : 'max-w-72'} ${padding} ${alignOf(column)}`}
                      title={column.narrow ? String(column.value(original) ?? '') : undefined}
                    >
                      {column.cell === undefined ? (column.value(original) ?? '–') : column.cell(original)}
                    </td>
                  ))}
                </tr>
              ))}
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

function toDefinition<T extends object>(column: Column<T>): ColumnDef<typeof features, T> {
  // Missing values stand below everything that was measured.
  return {
    id: column.id,
    accessorFn: (row: T) => column.value(row) ?? undefined,
    sortFn: 'basic',
    sortUndefined: 'last',
  } as ColumnDef<typeof features, T>;
}

/** What a table shows, as a file. */
export function tableCsv<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const lines = [columns.map(({ header }) => header), ...rows.map((row) => columns.map(({ value }) => value(row)))];
  return lines.map((line) => line.map(csvCell).join(',')).join('\r\n');
}
