import type { SpendCell } from '../../api/stats';
import type { HeatCell } from '../../charts/heat/heat-box';
import { UNNAMED } from '../../charts/prepare-series';
import { countOf } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import { oneOrMany } from '../../range/request-filter';
import { type RequestsFilter, requestsLink } from '../../range/use-show-requests';
import { shortUsd } from './prepare-calendar';

const OTHER = '(other)';
const OTHER_LABEL = 'Others';

/** Columns to choose from; rows are models. */
export const ACROSS = { customer: 'Customer', project: 'Project', key: 'Key', modality: 'Modality' } as const;
export type Across = keyof typeof ACROSS;

const FIELDS = { customer: 'customer_id', project: 'project', key: 'api_key_id', modality: 'modality' } as const;
const MODEL = 'answering_model';

export interface TableOptions {
  readonly cells: readonly SpendCell[];
  readonly across: Across;
  readonly labelOf: (column: string) => string;
  /** Range of the cells where it is shorter than that of the page. */
  readonly range: { readonly from: string; readonly to: string } | undefined;
}

interface Line {
  /** Null for the total. */
  readonly name: string | null;
  readonly label: string;
}

export interface SpendTable {
  readonly heads: readonly Line[];
  readonly rows: readonly (Line & { readonly cells: readonly (HeatCell | null)[] })[];
}

/** Names by cost, the largest first; `(none)` and the others come last. */
function namesOf(cells: readonly SpendCell[], side: 'row' | 'column'): readonly string[] {
  const sums = new Map<string, number>();
  for (const cell of cells) sums.set(cell[side], (sums.get(cell[side]) ?? 0) + cell.cost_usd);
  const rank = (name: string) => (name === OTHER ? 2 : name === '' ? 1 : 0);
  return [...sums].sort(([a, x], [b, y]) => rank(a) - rank(b) || y - x || (a < b ? -1 : 1)).map(([name]) => name);
}

/** Models down, others across, each with its total. */
export function prepareTable(options: TableOptions): SpendTable {
  const { cells, across, labelOf } = options;
  const [rows, columns] = [namesOf(cells, 'row'), namesOf(cells, 'column')];
  const toLine = (label: (name: string) => string) => (name: string) => ({
    ...{ name, label: name === OTHER ? OTHER_LABEL : name === '' ? UNNAMED : label(name) },
  });
  const total: Line = { name: null, label: 'Total' };
  const heads: readonly Line[] = [...columns.map(toLine(labelOf)), total];
  const lines: readonly Line[] = [...rows.map(toLine((name) => name)), total];
  const isIn = (cell: SpendCell, row: Line, column: Line) =>
    (row.name === null || cell.row === row.name) && (column.name === null || cell.column === column.name);
  const cellOf = (row: Line, column: Line): HeatCell | null => {
    const own = cells.filter((cell) => isIn(cell, row, column));
    if (own.length === 0) return null;
    const usd = own.reduce((sum, { cost_usd: cost }) => sum + cost, 0);
    const requests = own.reduce((sum, cell) => sum + cell.requests, 0);
    const sides = [sideFilter(MODEL, row.name, rows), sideFilter(FIELDS[across], column.name, columns)] as const;
    return {
      text: shortUsd(usd),
      title: `${row.label}, ${column.label}: ${formatUsd(usd)}, ${countOf(requests, 'request')}`,
      amount: usd,
      link: linkOf(sides, options),
      isTotal: row.name === null || column.name === null,
    };
  };
  return { heads, rows: lines.map((row) => ({ ...row, cells: heads.map((column) => cellOf(row, column)) })) };
}

function linkOf([row, column]: readonly [RequestsFilter | null, RequestsFilter | null], { range }: TableOptions) {
  return row === null || column === null ? null : requestsLink({ ...row, ...column, ...range, sort: '-cost_usd' });
}

/**
 * Filter of the requests of a row or column; null where no filter says it. Requests without a customer can only be told as
 * those of none of the others, and those of the others as those of none of the named.
 */
export function sideFilter(field: string, name: string | null, names: readonly string[]): RequestsFilter | null {
  if (name === null) return {};
  // Calls of tools are no requests, and several modalities are no filter.
  if (field === FIELDS.modality && (name === 'tool' || name === OTHER)) return null;
  if (name !== '' && name !== OTHER) return { [field]: name };
  const named = names.filter((one) => one !== '' && one !== OTHER);
  const isAlone = !(names.includes('') && names.includes(OTHER));
  if (!isAlone || (field === FIELDS.project && named.length > 0)) return null;
  return { [`${field}_not`]: oneOrMany(named) };
}
