import { useState } from 'react';
import { type Customer, useCustomers, useProjectNames } from '../../api/projects';
import type { Page } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { SearchInput } from '../../ui/form';
import type { Column } from '../../ui/table/column';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import { useSettled } from '../../ui/use-settled';
import { LimitsDialog } from './limits-dialog';

/** Who spent most, and what they may spend; a row opens its limits. */
export function CustomersCard({ page }: { readonly page: Page }) {
  const [q, setQ] = useState('');
  const [open, setOpen] = useState<Customer | null>(null);
  const part = useSettled(q.trim());
  const customers = useCustomers({ ...page.query, ...(part === '' ? {} : { q: part }) });
  const rows = customers.data?.rows;
  const projectName = useProjectNames();
  return (
    <TableCard
      title="Customers"
      actions={
        <SearchInput
          label="Find a customer"
          placeholder="Part of a customer id"
          className="w-52!"
          value={q}
          onValue={setQ}
        />
      }
      caption="Customers, the dearest first"
      query={customers}
      columns={[...nameColumns(projectName), ...COLUMNS]}
      rows={rows}
      rowKey={(row) => `${row.project_id} ${row.customer_id}`}
      csvName="customers"
      onRow={setOpen}
      emptyTitle={q === '' ? 'No customers in this range' : 'No customer has this in its id'}
      emptyHint={q === '' ? NO_CUSTOMERS : undefined}
    >
      <MoreRows pages={customers} shown={rows?.length ?? 0} />
      {open !== null && (
        <LimitsDialog of={open} projectName={projectName(open.project_id)} onClose={() => setOpen(null)} />
      )}
    </TableCard>
  );
}

const NO_CUSTOMERS = (
  <>
    Send <code className="font-mono">X-Customer-ID</code> with your requests, and each customer's spend shows here.
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
        </span>
        {/* The same customer may be of several projects. */}
        <span className="block truncate text-2xs text-faint md:hidden">{projectName(row.project_id)}</span>
      </>
    ),
  },
  { header: 'Project', wideOnly: true, value: (row) => projectName(row.project_id) },
];

const COLUMNS: readonly Column<Customer>[] = [
  { header: 'Spend', unit: 'usd', value: (row) => row.cost_usd },
  { header: 'Requests', unit: 'count', wideOnly: true, value: (row) => row.requests },
  { header: 'Today', unit: 'usd', value: (row) => row.today_usd },
  { header: 'Daily limit', unit: 'usd', none: 'none', value: (row) => row.daily_spend_limit_usd },
  { header: 'This month', unit: 'usd', wideOnly: true, value: (row) => row.month_usd },
  { header: 'Monthly limit', unit: 'usd', none: 'none', wideOnly: true, value: (row) => row.monthly_spend_limit_usd },
];
