import { useMemo, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import {
  type Customer,
  type CustomerLimitsInput,
  useCustomerLimits,
  useCustomers,
  useProjectNames,
} from '../../api/projects';
import { useMayChange } from '../../api/session';
import { formatCount } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import type { Page } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { type Column, DataTable } from '../../ui/data-table';
import { Dialog } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { Input } from '../../ui/field';
import { MoreRows } from '../../ui/more-rows';
import { useSettled } from '../../ui/use-settled';
import { CUSTOMER_FIELDS } from './field-specs';
import { SpecForm } from './spec-form';

interface CustomerPath {
  readonly projectId: string;
  readonly customerId: string;
}

/** Who spent most, and what they may spend; a row opens its limits. */
export function CustomersCard({ page }: { readonly page: Page }) {
  const [q, setQ] = useState('');
  const [open, setOpen] = useState<CustomerPath | null>(null);
  const part = useSettled(q.trim());
  const customers = useCustomers({ ...page.query, ...(part === '' ? {} : { q: part }) });
  const rows = useMemo(() => customers.data?.pages.flatMap(({ data }) => data), [customers.data]);
  const projectName = useProjectNames();
  return (
    <Card
      title="Customers"
      flush
      actions={
        <Input
          type="search"
          aria-label="Find a customer"
          placeholder="Part of a customer id"
          className="w-52!"
          value={q}
          onChange={(event) => setQ(event.target.value)}
        />
      }
    >
      {customers.error && <ErrorState error={customers.error} onRetry={() => void customers.refetch()} />}
      <DataTable
        caption="Customers, the dearest first"
        columns={customerColumns(projectName)}
        rows={rows}
        rowKey={(row) => `${row.project_id} ${row.customer_id}`}
        csvName="customers"
        onRow={(row) => setOpen({ projectId: row.project_id, customerId: row.customer_id })}
        empty={
          q !== '' ? (
            <EmptyState title="No customer has this in its id" />
          ) : (
            <EmptyState title="No customers in this range">
              Send <code className="font-mono">X-Customer-ID</code> with your requests, and each customer's spend shows
              here.
            </EmptyState>
          )
        }
      />
      <MoreRows pages={customers} shown={rows?.length ?? 0} />
      {open !== null && (
        <LimitsDialog at={open} projectName={projectName(open.projectId)} onClose={() => setOpen(null)} />
      )}
    </Card>
  );
}

function customerColumns(projectName: (id: string) => string): Column<Customer>[] {
  const limit = (usd: number | null) => (usd === null ? 'none' : formatUsd(usd));
  return [
    {
      id: 'customer',
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
    { id: 'project', header: 'Project', wideOnly: true, value: (row) => projectName(row.project_id) },
    {
      id: 'cost',
      header: 'Spend',
      align: 'right',
      value: (row) => row.cost_usd,
      cell: (row) => formatUsd(row.cost_usd),
    },
    {
      id: 'requests',
      header: 'Requests',
      align: 'right',
      wideOnly: true,
      value: (row) => row.requests,
      cell: (row) => formatCount(row.requests),
    },
    {
      id: 'today',
      header: 'Today',
      align: 'right',
      value: (row) => row.today_usd,
      cell: (row) => formatUsd(row.today_usd),
    },
    {
      id: 'daily',
      header: 'Daily limit',
      align: 'right',
      value: (row) => row.daily_spend_limit_usd,
      cell: (row) => limit(row.daily_spend_limit_usd),
    },
    {
      id: 'month',
      header: 'This month',
      align: 'right',
      wideOnly: true,
      value: (row) => row.month_usd,
      cell: (row) => formatUsd(row.month_usd),
    },
    {
      id: 'monthly',
      header: 'Monthly limit',
      align: 'right',
      wideOnly: true,
      value: (row) => row.monthly_spend_limit_usd,
      cell: (row) => limit(row.monthly_spend_limit_usd),
    },
  ];
}

interface LimitsProps {
  readonly at: CustomerPath;
  readonly projectName: string;
  readonly onClose: () => void;
}

function LimitsDialog({ at, projectName, onClose }: LimitsProps) {
  const limits = useCustomerLimits(at);
  const mayChange = useMayChange();
  const param = { id: at.projectId, customer_id: encodeURIComponent(at.customerId) };
  const routes = api.projects[':id'].customers[':customer_id'].limits;
  const affects = [['customers'], ['customer-limits'], ['budgets']];
  const save = useChange({
    run: (json: CustomerLimitsInput) => read(routes.$put({ param, json })),
    affects,
    done: 'The limits hold from the next request on',
  });
  const remove = useChange({
    run: () => routes.$delete({ param }),
    affects,
    done: 'The customer has no limits any more',
  });
  return (
    <Dialog title={at.customerId} description={`Limits of this customer in ${projectName}`} open onClose={onClose}>
      {limits.error && <ErrorState error={limits.error} onRetry={() => void limits.refetch()} />}
      {limits.data !== undefined && (
        <SpecForm
          specs={CUSTOMER_FIELDS}
          resource={limits.data ?? { on_limit_behavior: 'block' }}
          submitLabel="Save limits"
          isPending={save.isPending}
          error={save.error ?? remove.error}
          disabled={!mayChange}
          onSubmit={(body) =>
            save.mutate({ model_limits: limits.data?.model_limits ?? {}, ...body } as CustomerLimitsInput, {
              onSuccess: onClose,
            })
          }
        >
          {limits.data !== null && (
            <Button
              kind="danger"
              disabled={!mayChange}
              onClick={() => remove.mutate(undefined, { onSuccess: onClose })}
            >
              Remove limits
            </Button>
          )}
        </SpecForm>
      )}
    </Dialog>
  );
}
