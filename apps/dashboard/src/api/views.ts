import { useQuery } from '@tanstack/react-query';
import type { InferRequestType, InferResponseType } from 'hono/client';
import { useChange } from './change';
import { api, read } from './client';

export type SavedView = InferResponseType<typeof api.views.$get>['data'][number];
export type ViewInput = InferRequestType<typeof api.views.$post>['json'];

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
