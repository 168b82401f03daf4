import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { InferRequestType, InferResponseType } from 'hono/client';
import { api, read } from './client';
import { useLive } from './live';

export type Provider = InferResponseType<typeof api.providers.$get>['data'][number];
export type ProviderInput = InferRequestType<typeof api.providers.$post>['json'];
export type Chain = InferResponseType<typeof api.chains.$get>['data'][number];
export type ChainInput = InferRequestType<(typeof api.chains)[':name']['$put']>['json'];
export type Alias = InferResponseType<typeof api.aliases.$get>['data'][number];
export type AliasInput = InferRequestType<typeof api.aliases.$post>['json'];
export type ProviderTest = InferResponseType<(typeof api.providers)[':name']['test']['$post']>;

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
