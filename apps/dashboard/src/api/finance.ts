import type { AnswerFrom, SentTo } from '@llm0/gateway/admin/route-types';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, read, send } from './client';

export type Statement = AnswerFrom<typeof api.finance.statement.$get>;
export type StatementRow = Statement['rows'][number];
export type StatementTotal = Statement['total'];
export type CapForecast = Statement['caps'][number];

/** Query of the API: month, time_zone, by, filters. */
export type StatementQuery = Readonly<Record<string, string>>;

const REFRESH_MS = 60_000;

export const useStatement = (query: StatementQuery) =>
  useQuery({
    queryKey: ['finance', 'statement', query],
    queryFn: () => read(api.finance.statement.$get({ query: { ...query } })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

/** The statement as a CSV file. */
export async function loadStatementCsv(query: StatementQuery): Promise<string> {
  return (await send(`/admin/v1/finance/statement.csv?${new URLSearchParams(query)}`)).text();
}

/** The month as a FOCUS file; it takes no groups, customers or labels. */
export async function loadFocusCsv({ by: _, ...query }: StatementQuery): Promise<string> {
  return (await send(`/admin/v1/finance/focus.csv?${new URLSearchParams(query)}`)).text();
}

type ClosingInput = SentTo<typeof api.finance.statement.close.$post>['json'];

export const closeMonth = (json: ClosingInput) => read(api.finance.statement.close.$post({ json }));

export const useLabelNames = () =>
  useQuery({ queryKey: ['finance', 'labels'], queryFn: () => read(api.finance.labels.$get({ query: {} })) });
