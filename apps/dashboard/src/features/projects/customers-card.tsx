import { useState } from 'react';
import { type Customer, findCustomer, useCustomers, useProjectNames } from '../../api/projects';
import { useMayChange } from '../../api/session';
import { formatDays } from '../../format/format-time';
import { useOpened } from '../../range/use-opened';
import type { Page, RangeQuery } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { SearchInput } from '../../ui/form';
import { Plus } from '../../ui/icons';
import type { Column } from '../../ui/table/column';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import { useSettled } from '../../ui/use-settled';
import { ChangeButton } from '../forms/change-button';
import { ManagedMark } from '../forms/managed-set';
import { OpenedOne } from '../forms/opened-one';
import { LimitsDialog } from './limits-dialog';
import { NewLimits } from './new-limits';
import { ownerOf } from './spending/prepare-outlooks';
import { RunsOutNext } from './spending/runs-out-next';
import { daysColumn, outlookColumn } from './spending/spending-columns';
import { useOutlooks } from './spending/use-outlooks';

/** Customers by spend, with limits; a row opens its limits. */
export function CustomersCard({ page }: { readonly page: Page }) {
  const [q, setQ] = useState('');
  const opened = useOpened();
  const mayChange = useMayChange();
  const part = useSettled(q.trim());
  const customers = useCustomers({ ...page.query, ...(part === '' ? {} : { q: part }) });
  const budgets = useOutlooks('customer', page.projectId);
  const rows = budgets.isReady ? customers.data?.rows : undefined;
  const runsOut = outlookColumn<Customer>((row) => budgets.outlooks.get(keyOf(row)), 'very');
  const open = rows?.find((row) => keyOf(row) === opened.id);
  const projectName = useProjectNames();
  return (
    <TableCard
      title="Customers"
      actions={
        <>
          <SearchInput
            label="Find a customer"
            placeholder="Part of a customer ID"
            className="w-52!"
            value={q}
            onValue={setQ}
          />
          <ChangeButton onClick={() => opened.open('new')}>
            <Plus /> Limit a customer
          </ChangeButton>
        </>
      }
      caption="Customers, highest spend first"
      query={customers}
      columns={[...nameColumns(projectName), ...customerColumns(page.query), runsOut]}
      above={<RunsOutNext budgets={budgets} linkOf={({ owner }) => opened.linkTo(owner)} />}
      rows={rows}
      rowKey={keyOf}
      csvName="customers"
      linkOf={(row) => opened.linkTo(keyOf(row))}
      emptyTitle={q === '' ? 'No customers in this range' : 'No matching customers'}
      emptyHint={q === '' ? NO_CUSTOMERS : undefined}
    >
      <MoreRows pages={customers} shown={rows?.length ?? 0} />
      {opened.id === 'new' && mayChange && <NewLimits projectId={page.projectId} onClose={opened.close} />}
      {opened.id?.includes(' ') && (
        <OpenedOne
          what="customer"
          row={open}
          isLoaded={rows !== undefined}
          queryKey={['customers', opened.id]}
          read={() => findCustomer(opened.id ?? '')}
          onClose={opened.close}
          nameOf={(one) => ({ resource: 'customer_limits', id: `${one.project_id}/${one.customer_id}` })}
        >
          {(one) => <LimitsDialog of={one} projectName={projectName(one.project_id)} onClose={opened.close} />}
        </OpenedOne>
      )}
    </TableCard>
  );
}

const keyOf = ({ project_id: project, customer_id: customer }: Customer) => ownerOf(project, customer);

const NO_CUSTOMERS = (
  <>
    Send <code className="font-mono">X-Customer-ID</code> with your requests to see each customer's spend here. You can
    set limits before a customer's first request.
  </>
);

const nameColumns = (projectName: (id: string) => string): Column<Customer>[] => [
  {
    header: 'Customer',
    value: (row) => row.customer_id,
    cell: (row) => (
      <>
        <span className="inline-flex max-w-full items-center gap-2 align-top">
          <span className="truncate font-medium">{row.customer_id}</span>
          {row.has_limits && <Badge>limits</Badge>}
          <ManagedMark resource="customer_limits" id={`${row.project_id}/${row.customer_id}`} />
        </span>
        {/* A customer may belong to several projects. */}
        <span className="block truncate text-2xs text-faint md:hidden">{projectName(row.project_id)}</span>
      </>
    ),
  },
  { header: 'Project', wideOnly: true, value: (row) => projectName(row.project_id) },
];

/** The API sums whole UTC days, so the headings name these days and not the range. */
export const customerColumns = ({ from, to }: RangeQuery): readonly Column<Customer>[] => [
  { header: `Spent ${formatDays(from, to)}, UTC`, unit: 'usd', value: (row) => row.cost_usd },
  { header: `Requests ${formatDays(from, to)}, UTC`, unit: 'count', wideOnly: 'most', value: (row) => row.requests },
  daysColumn((row) => row.spend_by_day, 'very'),
  { header: 'Spent today', unit: 'usd', value: (row) => row.today_usd },
  { header: 'Daily limit', unit: 'usd', none: 'none', value: (row) => row.daily_spend_limit_usd },
  { header: 'Spent this month', unit: 'usd', wideOnly: true, value: (row) => row.month_usd },
  { header: 'Monthly limit', unit: 'usd', none: 'none', wideOnly: true, value: (row) => row.monthly_spend_limit_usd },
];
