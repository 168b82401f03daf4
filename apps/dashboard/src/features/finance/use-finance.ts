import { useNavigate, useSearch } from '@tanstack/react-router';
import { type StatementQuery, useStatement } from '../../api/finance';
import { useNow, usePage } from '../../range/use-page';
import type { FinanceSearch } from './finance-search';
import { monthOf, toStatementQuery } from './prepare-finance';

const TICK_MS = 60_000;

/** Returns the statement that the address selects, and a setter for the selection. */
export function useFinance() {
  const page = usePage();
  const search: FinanceSearch = useSearch({ from: '/money' });
  const navigate = useNavigate({ from: '/money' });
  const nowMs = useNow(TICK_MS);
  const timeZone = page.timeZone === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;
  const running = monthOf(nowMs, timeZone);
  const month = search.month ?? running;
  const query: StatementQuery = toStatementQuery({ ...search, month, timeZone, projectId: page.projectId });
  const statement = useStatement(query);
  return {
    ...{ page, search, timeZone, running, month, query, statement },
    by: search.by ?? 'project',
    change: (change: FinanceSearch) =>
      void navigate({ to: '/money', search: (kept) => ({ ...(kept as object), ...change }), resetScroll: false }),
  };
}

export type Finance = ReturnType<typeof useFinance>;
