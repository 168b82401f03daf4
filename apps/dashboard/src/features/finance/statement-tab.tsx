import { useMutation } from '@tanstack/react-query';
import { loadFocusCsv, loadStatementCsv } from '../../api/finance';
import { useProjects } from '../../api/projects';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { downloadText } from '../../ui/download-text';
import { Failure } from '../../ui/error-state';
import { Download } from '../../ui/icons';
import { ProjectFilter } from '../shell/project-filter';
import { CapCard } from '../spend/cap-card';
import { CapsTable } from './caps-table';
import { CloseButton } from './close-button';
import { FilterRow } from './filter-row';
import { FILTERS, type FilterName, type FinanceSearch, LEVEL_FILTERS } from './finance-search';
import { MonthPicker, ZonePicker } from './month-picker';
import { decimalsFor, groupName, monthName } from './prepare-finance';
import { PrintFoot, PrintHead } from './print-head';
import { StatementTable } from './statement-table';
import { SummaryCards } from './summary-cards';
import { useFinance } from './use-finance';

/** Cost of a month, for accounting. */
export function StatementTab() {
  const finance = useFinance();
  const { statement, search, by, month } = finance;
  const { data } = statement;
  const decimals = decimalsFor(search.decimals, data?.total.cost_usd ?? 0);
  const project = useProjects().data?.data.find(({ id }) => id === finance.page.projectId);
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <FilterRow {...finance} />
        <StatementCopies />
      </div>
      <Failure of={statement} />
      {data !== undefined && (
        <div className={`flex min-w-0 flex-col gap-4 ${statement.isPlaceholderData ? 'opacity-60' : ''}`}>
          <PrintHead statement={data} by={groupName(data.by)} />
          <SummaryCards statement={data} decimals={decimals} />
          <Card title={`${monthName(data.month)} by ${groupName(data.by).toLowerCase()}, in USD`} flush>
            <StatementTable statement={data} decimals={decimals} />
          </Card>
          {hasNoFilter(search) && (
            <div className="print:hidden">
              <CapCard project={project} month={month} />
            </div>
          )}
          <CapsTable statement={data} decimals={decimals} />
          <Notes notes={data.notes} />
          <PrintFoot statement={data} />
        </div>
      )}
      {data === undefined && statement.error === null && (
        <p role="status" className="text-muted">
          Calculating {monthName(month)} by {groupName(by).toLowerCase()}…
        </p>
      )}
    </div>
  );
}

/** Days are known by project only. */
const hasNoFilter = (search: FinanceSearch) =>
  (Object.keys({ ...FILTERS, ...LEVEL_FILTERS }) as FilterName[]).every((name) => search[name] === undefined);

/** Project and month of the statement. */
export function StatementScope() {
  const finance = useFinance();
  return (
    <div className="flex flex-wrap items-center gap-1.5 print:hidden">
      <ProjectFilter page={finance.page} />
      <MonthPicker {...finance} />
    </div>
  );
}

/** Zone, files, closing and printing. Beside the title, they would move the tabs to a second line. */
function StatementCopies() {
  const finance = useFinance();
  const { query, statement, month, by } = finance;
  const csv = useMutation({
    mutationFn: () => loadStatementCsv(query),
    onSuccess: (text) => downloadText(`statement-${month}-by-${by.replaceAll('.', '-')}.csv`, text),
  });
  const focus = useMutation({
    mutationFn: () => loadFocusCsv(query),
    onSuccess: (text) => downloadText(`focus-${month}.csv`, text),
  });
  const { customer_id: customer, label } = finance.search;
  // FOCUS has neither.
  const isOther = customer !== undefined || label !== undefined;
  const failure = csv.error ?? focus.error;
  return (
    <div className="contents flex-wrap items-center gap-1.5 sm:ml-auto sm:flex print:hidden">
      <ZonePicker {...finance} />
      <Button disabled={csv.isPending} onClick={() => csv.mutate()}>
        <Download /> CSV
      </Button>
      <Button disabled={focus.isPending || isOther} onClick={() => focus.mutate()}>
        <Download /> FOCUS
      </Button>
      <CloseButton {...finance} />
      <Button kind="primary" disabled={statement.data === undefined} onClick={() => window.print()}>
        Print statement
      </Button>
      {failure !== null && <Failure of={{ error: failure }} />}
    </div>
  );
}

function Notes({ notes }: { readonly notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <section className="statement-notes text-xs text-muted">
      <h2 className="mb-1 font-medium text-text">Notes</h2>
      <ul className="flex list-disc flex-col gap-0.5 pl-4">
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </section>
  );
}
