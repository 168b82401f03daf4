import { useQuery } from '@tanstack/react-query';
import type { InferRequestType, InferResponseType } from 'hono/client';
import { useMemo } from 'react';
import { api, read } from './client';

export type Project = InferResponseType<typeof api.projects.$get>['data'][number];
export type ProjectInput = InferRequestType<(typeof api.projects)[':id']['$patch']>['json'];
export type Key = InferResponseType<(typeof api.projects)[':id']['keys']['$get']>['data'][number];
export type KeyWithSecret = InferResponseType<(typeof api.projects)[':id']['keys']['$post']>;
export type KeyInput = InferRequestType<(typeof api.projects)[':id']['keys']['$post']>['json'];
export type Customer = InferResponseType<typeof api.customers.$get>['data'][number];
export type CustomerLimits = InferResponseType<
  (typeof api.projects)[':id']['customers'][':customer_id']['limits']['$get']
>;
export type CustomerLimitsInput = InferRequestType<
  (typeof api.projects)[':id']['customers'][':customer_id']['limits']['$put']
>['json'];

/** As many as one answer holds; beyond that the list is searched, not scrolled. */
const ALL = '1000';

export const useProjects = () =>
  useQuery({ queryKey: ['projects'], queryFn: () => read(api.projects.$get({ query: { limit: ALL } })) });

/** Ids → names of projects, for tables and legends. */
export function useProjectNames(): (id: string) => string {
  const { data } = useProjects();
  return useMemo(() => {
    const names = new Map(data?.data.map(({ id, name }) => [id, name]));
    return (id) => names.get(id) ?? `${id.slice(0, 8)}…`;
  }, [data]);
}

export const useKeys = (projectId: string | undefined) =>
  useQuery({
    queryKey: ['keys', projectId],
    queryFn: () => read(api.projects[':id'].keys.$get({ param: { id: projectId ?? '' }, query: { limit: ALL } })),
    enabled: projectId !== undefined,
  });

export interface CustomerQuery {
  readonly from?: string;
  readonly to?: string;
  readonly project_id?: string;
  readonly q?: string;
}

export const useCustomers = (query: CustomerQuery, limit = 100) =>
  useQuery({
    queryKey: ['customers', query, limit],
    queryFn: () => read(api.customers.$get({ query: { ...query, limit: String(limit) } })),
  });

export const useCustomerLimits = (at: { projectId: string; customerId: string } | null) =>
  useQuery({
    queryKey: ['customer-limits', at],
    enabled: at !== null,
    queryFn: async () => {
      const param = { id: at?.projectId ?? '', customer_id: encodeURIComponent(at?.customerId ?? '') };
      try {
        return await read(api.projects[':id'].customers[':customer_id'].limits.$get({ param }));
      } catch (error) {
        // None set yet: the form starts empty.
        if (error instanceof Error && 'status' in error && error.status === 404) return null;
        throw error;
      }
    },
  });
