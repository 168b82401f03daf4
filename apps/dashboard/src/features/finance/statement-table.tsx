import type { Statement, StatementRow, StatementTotal } from '../../api/finance';
import { useProjectOptions } from '../../api/projects';
import { formatCount } from '../../format/format-number';
import { SAVED } from '../../format/saved-labels';
import { requestsLink } from '../../range/use-show-requests';
import { EmptyState } from '../../ui/empty-state';
import { PlaceLink } from '../../ui/place-link';
import { filterOf } from '../spend/prepare-spend';
import { formatFixed } from './format-fixed';
import {
  drawnChange,
  drawnSaved,
  formatDifference,
  formatPercent,
  groupName,
  monthName,
  nameOfRow,
  roundingDifference,
  statementOf,
} from './prepare-finance';

interface Props {
  readonly statement: Statement;
  readonly decimals: number;
}

interface Column {
  readonly header: string;
  readonly text: (sums: StatementTotal, decimals: number) => string;
  /** Total of the rows; absent if not needed. */
  readonly amount?: (sums: StatementTotal, decimals: number) => number | null;
  /** Hidden on phones or below wide screens; always printed. */
  readonly wideOnly?: 'max-md:hidden' | 'max-xl:hidden';
}

const money = (header: string, amount: NonNullable<Column['amount']>, wideOnly?: Column['wideOnly']): Column => ({
  ...{ header, amount, wideOnly },
  text: (sums, decimals) => formatFixed(amount(sums, decimals), decimals),
});

const COST = 'Cost';
const SAVED_BY = [
  money(`${SAVED.byCache}, exact`, (sums, decimals) => drawnSaved(sums, decimals)?.exact ?? null, 'max-xl:hidden'),
  money(
    `${SAVED.byCache}, semantic`,
    (sums, decimals) => drawnSaved(sums, decimals)?.semantic ?? null,
    'max-xl:hidden',
  ),
  money(SAVED.byPromptCaches, ({ saved_vendor_usd: usd }) => usd, 'max-xl:hidden'),
];
/** The statement knows only these savings for customers. */
const SAVED_IN_ALL = [money(SAVED.byCache, ({ saved_usd: usd }) => usd, 'max-xl:hidden')];

function columnsOf({ is_final: isFinal, compared_with: before, total }: Statement): readonly Column[] {
  const forecast: Column = {
    header: 'Forecast',
    text: (sums, decimals) => formatFixed(sums.forecast?.expected_usd ?? null, decimals),
    wideOnly: 'max-md:hidden',
  };
  return [
    { header: 'Requests', text: ({ requests }) => formatCount(requests), wideOnly: 'max-md:hidden' },
    money(COST, ({ cost_usd: cost }) => cost),
    ...(total.corrections_usd === 0
      ? []
      : [money('Of which corrections', ({ corrections_usd: usd }) => usd, 'max-md:hidden')]),
    money('Of which estimated', ({ estimated_usd: estimated }) => estimated, 'max-xl:hidden'),
    money(
      isFinal ? monthName(before.month) : 'Previous month to date',
      ({ previous_usd: usd }) => usd,
      'max-md:hidden',
    ),
    {
      header: 'Change',
      amount: drawnChange,
      text: (sums, decimals) => formatDifference(drawnChange(sums, decimals), decimals),
      wideOnly: 'max-md:hidden',
    },
    { header: 'Change, %', text: formatPercent },
    ...(isFinal ? [] : [forecast]),
    ...(total.saved_exact_usd === null ? SAVED_IN_ALL : SAVED_BY),
  ];
}

const CELL = 'px-2 py-1.5 sm:px-3';
const shown = ({ wideOnly }: Column) => (wideOnly === undefined ? '' : `${wideOnly} print:table-cell!`);

/** Statement whose rows add up to the total, or show the rounding difference. */
export function StatementTable({ statement, decimals }: Props) {
  const { rows, total, by } = statement;
  if (rows.length === 0) {
    return <EmptyState title="No requests in these months">Choose another month, or remove a filter.</EmptyState>;
  }
  const columns = columnsOf(statement);
  const differences = columns.map(({ amount }) =>
    amount === undefined
      ? null
      : roundingDifference(
          rows.map((row) => amount(row, decimals)),
          amount(total, decimals),
          decimals,
        ),
  );
  return (
    <table className="statement w-full text-sm">
      <caption className="sr-only">
        Costs of {monthName(statement.month)} by {groupName(by)}, in USD
      </caption>
      <thead>
        <tr className="border-b text-xs text-muted">
          <th scope="col" className={`${CELL} text-left font-medium`}>
            {groupName(by)}
          </th>
          {columns.map((column) => (
            <th key={column.header} scope="col" className={`${CELL} text-right font-medium ${shown(column)}`}>
              {column.header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.group} className="border-b hover:bg-hover">
            <th scope="row" className={`${CELL} min-w-24 text-left font-normal wrap-anywhere lg:min-w-44`}>
              <RowName row={row} statement={statement} />
            </th>
            <Cells {...{ columns, decimals }} sums={row} />
          </tr>
        ))}
      </tbody>
      <tfoot>
        <RoundingRow {...{ columns, differences }} />
        <tr className="border-t-2 border-line-strong font-semibold">
          <th scope="row" className={`${CELL} text-left`}>
            Total
          </th>
          <Cells {...{ columns, decimals }} sums={total} />
        </tr>
      </tfoot>
    </table>
  );
}

interface RoundingProps {
  readonly columns: readonly Column[];
  readonly differences: readonly (string | null)[];
}

/** Rounding difference between rows and total; renders nothing if they add up. */
function RoundingRow({ columns, differences }: RoundingProps) {
  if (differences.every((difference) => difference === null)) return null;
  const isOfCost = differences[columns.findIndex(({ header }) => header === COST)] !== null;
  return (
    <tr className={`border-t text-xs text-muted ${isOfCost ? '' : 'max-md:hidden print:table-row!'}`}>
      <th scope="row" className={`${CELL} text-left font-normal`}>
        Rounding difference
      </th>
      {columns.map((column, index) => (
        <td key={column.header} className={`${CELL} nums text-right ${shown(column)}`}>
          {differences[index]}
        </td>
      ))}
    </tr>
  );
}

interface CellsProps {
  readonly columns: readonly Column[];
  readonly sums: StatementTotal;
  readonly decimals: number;
}

const Cells = ({ columns, sums, decimals }: CellsProps) =>
  columns.map((column) => (
    <td key={column.header} className={`${CELL} nums text-right ${shown(column)}`}>
      {column.text(sums, decimals)}
    </td>
  ));

/** Leads to the requests of the month, or to the statement of a level. */
function RowName({ row, statement }: { readonly row: StatementRow; readonly statement: Statement }) {
  const name = nameOfRow(statement.by, row, new Map(useProjectOptions()));
  const inner = statementOf(statement.by, row.group);
  if (inner !== undefined) {
    const search = (kept: object) => ({ ...kept, ...inner });
    return (
      <PlaceLink to="/money" search={search} className="touch-line rounded hover:underline">
        {name}
      </PlaceLink>
    );
  }
  const filter = filterOf(statement.by, row.group);
  if (Object.keys(filter).length === 0) return <span className="text-muted">{name}</span>;
  const { model } = statement.filters;
  const answering = model === undefined ? {} : { model: undefined, answering_model: model };
  const stretch = { range: undefined, from: statement.from, to: statement.to, ...answering };
  return (
    <PlaceLink {...requestsLink({ ...stretch, ...filter })} className="touch-line rounded hover:underline">
      {name}
    </PlaceLink>
  );
}
