import type { AnswerFrom, SentTo } from '@llm0/gateway/admin/route-types';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, read } from './client';
import { useLive } from './live';

export type Provider = AnswerFrom<typeof api.providers.$get>['data'][number];
export type ProviderInput = SentTo<typeof api.providers.$post>['json'];
export type Chain = AnswerFrom<typeof api.chains.$get>['data'][number];
export type ChainInput = SentTo<(typeof api.chains)[':name']['$put']>['json'];
export type Alias = AnswerFrom<typeof api.aliases.$get>['data'][number];
export type AliasInput = SentTo<typeof api.aliases.$post>['json'];
export type ProviderTest = AnswerFrom<(typeof api.providers)[':name']['test']['$post']>;

const ALL = '1000';

/** The stream reports breakers, but not their remaining time. */
const PROVIDERS_REFRESH_MS = 5000;
const TOLD_REFRESH_MS = 60_000;

export function useProviders() {
  const client = useQueryClient();
  const again = () => void client.invalidateQueries({ queryKey: ['providers'] });
  const isTold = useLive({ topic: 'status', onNews: again });
  useLive({ topic: 'audit', onNews: again, onReset: again });
  return useQuery({
    queryKey: ['providers'],
    queryFn: () => read(api.providers.$get({ query: { limit: ALL } })),
    refetchInterval: isTold ? TOLD_REFRESH_MS : PROVIDERS_REFRESH_MS,
  });
}
/** Names of all built-in and added providers; empty while they load. */
export const useProviderNames = (): readonly string[] => (useProviders().data?.data ?? []).map(({ name }) => name);
export const useChains = () => useQuery({ queryKey: ['chains'], queryFn: () => read(api.chains.$get()) });
export const useAliases = () =>
  useQuery({ queryKey: ['aliases'], queryFn: () => read(api.aliases.$get({ query: { limit: ALL } })) });
