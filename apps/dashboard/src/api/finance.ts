import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { api, read, send } from './client';

export type Statement = InferResponseType<typeof api.finance.statement.$get>;
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

export const useLabelNames = () =>
  useQuery({ queryKey: ['finance', 'labels'], queryFn: () => read(api.finance.labels.$get({ query: {} })) });
