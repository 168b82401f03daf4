import { useNavigate, useSearch } from '@tanstack/react-router';
import { type StatementQuery, useStatement } from '../../api/finance';
import { useSpend } from '../../api/stats';
import { useNow, usePage } from '../../range/use-page';
import type { FinanceSearch } from './finance-search';
import { compareWhole, monthOf, toStatementQuery } from './prepare-finance';

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
  const isWhole = useIsWhole(statement.data?.compared_with.from, page.projectId);
  return {
    ...{ page, search, timeZone, running, month, query },
    by: search.by ?? 'project',
    statement: { ...statement, data: statement.data && compareWhole(statement.data, isWhole) },
    change: (change: FinanceSearch) =>
      void navigate({ to: '/money', search: (kept) => ({ ...(kept as object), ...change }), resetScroll: false }),
  };
}

const DAY_MS = 86_400_000;
/** Requests are looked for in this time before a month. */
const BEFORE_MS = 31 * DAY_MS;

/** False if no request is known from before a month or its first day: data begins within it. */
function useIsWhole(start: string | undefined, projectId: string | undefined): boolean {
  const startMs = Date.parse(start ?? '1970-01-01T00:00:00Z');
  const [from, to] = [startMs - BEFORE_MS, startMs + DAY_MS].map((ms) => new Date(ms).toISOString());
  const asked = { from: from ?? '', to: to ?? '', interval: 'all' };
  const found = useSpend({ ...asked, ...(projectId && { project_id: projectId }) }, start !== undefined);
  return found.data === undefined || found.data.buckets.some(({ requests }) => requests > 0);
}

export type Finance = ReturnType<typeof useFinance>;
