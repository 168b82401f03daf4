import { useMemo, useState } from 'react';
import { useCustomers, useLimitedCustomers, useProjectNames } from '../../api/projects';
import { useMayChange } from '../../api/session';
import { asInterval, useSpend } from '../../api/stats';
import { formatCount } from '../../format/format-number';
import { formatDays } from '../../format/format-time';
import { monthStart } from '../../range/month';
import { rangeQuery, untilNow } from '../../range/time-range';
import { useOpened } from '../../range/use-opened';
import type { Page } from '../../range/use-page';
import { SearchInput } from '../../ui/form';
import { Plus } from '../../ui/icons';
import { MoreRows } from '../../ui/table/more-rows';
import { TableCard } from '../../ui/table/table-card';
import { useSettled } from '../../ui/use-settled';
import { ChangeButton } from '../forms/change-button';
import { DAY_MS, prepareDays, sparkDays } from '../projects/spending/prepare-days';
import type { Outlook } from '../projects/spending/prepare-outlooks';
import { RunsOutNext } from '../projects/spending/runs-out-next';
import { useOutlooks } from '../projects/spending/use-outlooks';
import { isByDays, toSpendQuery } from '../spend/prepare-spend';
import { customerColumns } from './customer-columns';
import { CustomerDrawer } from './customer-drawer';
import { NewLimits } from './new-limits';
import { type CustomerLine, prepareCustomers } from './prepare-customers';

const STEP = 100;
/** The API names no more groups. */
const MOST = 1000;

/** Customers over all projects by spend; a row opens its usage and limits. */
export function CustomersCard({ page }: { readonly page: Page }) {
  const [q, setQ] = useState('');
  const [shown, setShown] = useState(STEP);
  const opened = useOpened();
  const mayChange = useMayChange();
  const projectName = useProjectNames();
  const { spend, rows, matching, budgets, limited } = useCustomerLines(page, { q: useSettled(q.trim()), shown });
  const all = { hasNextPage: isMore(spend.data?.groups, shown), isFetchingNextPage: spend.isPlaceholderData };
  return (
    <TableCard
      actions={
        <>
          <SearchInput
            label="Find a customer"
            placeholder="Part of an ID"
            className="w-40! sm:w-52!"
            value={q}
            onValue={setQ}
          />
          <ChangeButton onClick={() => opened.open('new')}>
            <Plus /> Limit a customer
          </ChangeButton>
        </>
      }
      caption="Customers"
      sortBy="Spent in this range"
      query={spend}
      columns={customerColumns((row) => outlookOf(row, budgets.outlooks), projectName)}
      above={
        <>
          <RunsOutNext budgets={budgets} linkOf={({ owner }) => opened.linkTo(owner)} />
          {isByDays(page.range) && <DaysNote page={page} />}
          {limited.data !== undefined && limited.data.next_cursor !== null && (
            <p className="border-b px-4 py-2 text-xs text-muted">
              Limits of {formatCount(limited.data.data.length)} customers are shown; search to see those of others.
            </p>
          )}
        </>
      }
      rows={rows}
      rowKey={(row) => row.id}
      csvName="customers"
      linkOf={(row) => opened.linkTo(row.id)}
      emptyTitle={q === '' ? 'No customers in this range' : 'No matching customers'}
      emptyHint={q === '' ? NO_CUSTOMERS : undefined}
    >
      {q === '' ? (
        <MoreRows pages={{ ...all, fetchNextPage: () => setShown(shown + STEP) }} shown={rows?.length ?? 0} />
      ) : (
        <MoreRows pages={matching} shown={rows?.length ?? 0} />
      )}
      {opened.id === 'new' && mayChange && <NewLimits projectId={page.projectId} onClose={opened.close} />}
      {opened.id !== undefined && opened.id !== 'new' && (
        <CustomerDrawer key={opened.id} open={opened.id} page={page} onClose={opened.close} />
      )}
    </TableCard>
  );
}

const isMore = (groups: number | undefined, shown: number) => groups !== undefined && groups > shown && shown < MOST;

/** The most urgent of its projects. */
const outlookOf = ({ id, limits }: CustomerLine, outlooks: ReadonlyMap<string, Outlook>): Outlook | undefined =>
  limits
    .flatMap(({ project_id: project }) => outlooks.get(`${project} ${id}`) ?? [])
    .sort((a, b) => ((a.day ?? '~') < (b.day ?? '~') ? -1 : 1))[0];

const DaysNote = ({ page }: { readonly page: Page }) => {
  const { from, to } = toSpendQuery(page, 'customer').query;
  return (
    <p className="border-b px-4 py-2 text-xs text-muted">
      Customers are counted by whole UTC days: {formatDays(from, to)}.
    </p>
  );
};

function useCustomerLines(page: Page, { q, shown }: { readonly q: string; readonly shown: number }) {
  const [nowMs] = useState(() => Date.now());
  const toMs = untilNow(nowMs + 60_000);
  const ofProject = page.projectId === undefined ? {} : { project_id: page.projectId };
  // A search may find any of them.
  const grouped = { ...ofProject, group_by: 'customer', top: String(q === '' ? shown : MOST) };
  const { group_by: _, ...query } = toSpendQuery(page, 'customer').query;
  const spend = useSpend({ ...query, ...grouped, interval: 'all' });
  const month = useSpend({ ...rangeQuery({ fromMs: monthStart(nowMs), toMs }), ...grouped, interval: 'all' });
  const { fromMs } = sparkDays(nowMs);
  const days = useSpend({ ...rangeQuery({ fromMs, toMs }), ...grouped, interval: asInterval(DAY_MS) });
  const limited = useLimitedCustomers(query);
  const matching = useCustomers({ ...query, q }, q !== '');
  const budgets = useOutlooks('customer', page.projectId);
  const asked = [spend, month, days, limited, ...(q === '' ? [] : [matching])];
  const isLoading = !budgets.isReady || asked.some(({ data, error }) => data === undefined && error === null);
  const isWhole = isByDays(page.range);
  const rows = useMemo(() => {
    if (spend.data === undefined || isLoading) return undefined;
    return prepareCustomers({
      ...{ spend: spend.data.buckets, month: month.data?.buckets ?? [], isByDays: isWhole },
      ...{ limited: limited.data?.data ?? [], matching: q === '' ? undefined : (matching.data?.rows ?? []) },
      daysOf: days.data === undefined ? () => null : prepareDays(days.data, fromMs),
    });
  }, [spend.data, month.data, days.data, limited.data, matching.data, isLoading, isWhole, q, fromMs]);
  return { spend, rows, matching, budgets, limited };
}

const NO_CUSTOMERS = (
  <>
    Send <code className="font-mono">X-Customer-ID</code> with your requests to see each customer's spend here. You can
    set limits before a customer's first request.
  </>
);
