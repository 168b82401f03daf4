import type { AnswerFrom } from '@llm0/gateway/admin/route-types';
import { useQuery } from '@tanstack/react-query';
import { api, read } from '../../api/client';
import { usePages } from '../../api/pages';

export type Run = AnswerFrom<typeof api.runs.$get>['data'][number];
export type RunDetail = AnswerFrom<(typeof api.runs)[':id']['$get']>;

/** Runs with a budget, newest first, page by page; '' = in any state. */
export const useRuns = (projectId: string | undefined, state: Run['state'] | '') =>
  usePages({
    queryKey: ['runs', 'list', projectId, state],
    readPage: (at) => {
      const filter = { ...(projectId !== undefined && { project_id: projectId }), ...(state !== '' && { state }) };
      return read(api.runs.$get({ query: { limit: '100', ...at, ...filter } }));
    },
  });

/** How often an open run that goes on is read again. */
const REREAD_MS = 2000;

/** A run with its requests and tool calls, in order. */
export const useRun = (id: string, projectId: string) =>
  useQuery({
    queryKey: ['runs', projectId, id],
    queryFn: () => read(api.runs[':id'].$get({ param: { id }, query: { project_id: projectId } })),
    refetchInterval: ({ state: { data } }) =>
      data?.state === 'running' && data.budget_usd !== null ? REREAD_MS : false,
  });
