import type { AnswerFrom, SentTo } from '@llm0/gateway/admin/route-types';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, read, readOrNull } from './client';
import { useLive } from './live';

type Page = AnswerFrom<typeof api.backends.$get>;
export type Backend = Page['data'][number];
/** A backend from the environment, which is changed there. */
export type FixedBackend = Page['environment'][number];
export type BackendInput = SentTo<typeof api.backends.$post>['json'];
export type BackendChanges = SentTo<(typeof api.backends)[':id']['$patch']>['json'];
export type BackendTest = AnswerFrom<(typeof api.backends)[':id']['test']['$post']>;

const ALL = '1000';

/** All HTTP backends, stored and from the environment. */
export function useBackends() {
  const client = useQueryClient();
  const again = () => void client.invalidateQueries({ queryKey: ['backends'] });
  useLive({ topic: 'audit', onNews: again, onReset: again });
  return useQuery({ queryKey: ['backends'], queryFn: () => read(api.backends.$get({ query: { limit: ALL } })) });
}

export const readBackend = (id: string) => readOrNull(api.backends[':id'].$get({ param: { id } }));
