import type { AnswerFrom, SentTo } from '@llm0/gateway/admin/route-types';
import { useQuery } from '@tanstack/react-query';
import { useChange } from './change';
import { api, read } from './client';

export type SavedView = AnswerFrom<typeof api.views.$get>['data'][number];
export type ViewInput = SentTo<typeof api.views.$post>['json'];

const ALL = '1000';
const VIEWS = [['views']];

export const useViews = () =>
  useQuery({ queryKey: ['views'], queryFn: () => read(api.views.$get({ query: { limit: ALL } })) });

export const useCreateView = () =>
  useChange({
    run: (json: ViewInput) => read(api.views.$post({ json })),
    affects: VIEWS,
    done: ({ name }) => `View "${name}" saved for everyone`,
  });

export const useChangeView = () =>
  useChange({
    run: ({ id, ...json }: Omit<ViewInput, 'name'> & { id: string }) =>
      read(api.views[':id'].$patch({ param: { id }, json })),
    affects: VIEWS,
    done: ({ name }) => `View "${name}" updated`,
  });

export const useDeleteView = () =>
  useChange({
    run: async ({ id }: { id: string }) => void (await api.views[':id'].$delete({ param: { id } })),
    affects: VIEWS,
    done: 'View deleted',
  });
