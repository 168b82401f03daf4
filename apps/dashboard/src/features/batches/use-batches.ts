import { useQuery } from '@tanstack/react-query';
import type { InferResponseType } from 'hono/client';
import { api, read } from '../../api/client';
import { usePages } from '../../api/pages';

export type Batch = InferResponseType<typeof api.batches.$get, 200>['data'][number];

/** Batches of requests, newest first, page by page. */
export const useBatches = (projectId: string | undefined) =>
  usePages({
    queryKey: ['batches', projectId],
    readPage: (at) =>
      read(
        api.batches.$get({
          query: { limit: '100', ...at, ...(projectId === undefined ? {} : { project_id: projectId }) },
        }),
      ),
  });

/** How often a batch that goes on is read again. */
const REREAD_MS = 2000;

export const useBatch = (id: string) =>
  useQuery({
    queryKey: ['batches', 'one', id],
    queryFn: () => read(api.batches[':id'].$get({ param: { id }, query: {} })),
    refetchInterval: ({ state: { data } }) => (data === undefined || data.ended_at === null ? REREAD_MS : false),
  });
