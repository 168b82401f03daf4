import type { AnswerFrom } from '@llm0/gateway/admin/route-types';
import { useQuery } from '@tanstack/react-query';
import { api, read, send } from '../../api/client';
import { usePages } from '../../api/pages';
import { readReason } from './read-reason';

export type Batch = AnswerFrom<typeof api.batches.$get>['data'][number];

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

export const fileOf = ({ id }: Pick<Batch, 'id'>, file: 'output' | 'error') => `/admin/v1/batches/${id}/files/${file}`;

const MOST_REASONS = 3;
/** Enough for the first lines; the rest of a large file isn't read. */
const MOST_CHARS = 100_000;

/** Reasons of the first failed lines. */
export const useReasons = (batch: Batch, isWanted: boolean) =>
  useQuery({
    queryKey: ['batches', 'reasons', batch.id],
    queryFn: async () => {
      const lines = (await readStart(await send(fileOf(batch, 'error')))).split('\n');
      const reasons = lines.map(readReason).filter((reason) => reason !== null);
      return [...new Set(reasons)].slice(0, MOST_REASONS);
    },
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
  });

async function readStart({ body }: Response): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (text.length < MOST_CHARS) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}
