import { useQuery } from '@tanstack/react-query';
import type { InferRequestType, InferResponseType } from 'hono/client';
import { api, read } from '../../api/client';
import { usePages } from '../../api/pages';

export type Team = InferResponseType<typeof api.teams.$get>['data'][number];
export type TeamInput = InferRequestType<typeof api.teams.$post>['json'];
export type Member = InferResponseType<(typeof api.teams)[':id']['members']['$get']>['data'][number];
export type MemberInput = InferRequestType<(typeof api.teams)[':id']['members']['$post']>['json'];
export type Organization = InferResponseType<typeof api.organizations.$get>['data'][number];
export type OrganizationInput = InferRequestType<typeof api.organizations.$post>['json'];
export type User = InferResponseType<typeof api.users.$get>['data'][number];
export type UserInput = InferRequestType<typeof api.users.$post>['json'];
export type IdentityProvider = InferResponseType<(typeof api)['identity-providers']['$get']>['data'][number];
export type IdentityProviderInput = InferRequestType<(typeof api)['identity-providers']['$post']>['json'];

const LIMIT = '200';

const named = (q: string) => (q === '' ? {} : { q });

/** Teams by a part of the name, page by page. */
export const useTeams = (q = '') =>
  usePages({
    queryKey: ['teams', 'list', q],
    readPage: (at) => read(api.teams.$get({ query: { limit: LIMIT, ...named(q), ...at } })),
    keepsPrevious: true,
  });
export const useOrganizations = () =>
  usePages({
    queryKey: ['organizations'],
    readPage: (at) => read(api.organizations.$get({ query: { limit: LIMIT, ...at } })),
  });
/** Name of a team that no page has yet. */
export const useTeamName = (id: string, isNeeded: boolean) =>
  useQuery({
    queryKey: ['teams', id, 'name'],
    enabled: isNeeded,
    queryFn: async () => (await read(api.teams[':id'].$get({ param: { id } }))).name,
  }).data;
/** Names of teams and organizations, by their ids. */
export function useLevelNames(isNeeded: boolean): (id: string) => string {
  const { data = [] } = useQuery({
    queryKey: ['teams', 'names'],
    enabled: isNeeded,
    queryFn: async () => {
      const query = { limit: LIMIT };
      const lists = [read(api.teams.$get({ query })), read(api.organizations.$get({ query }))] as const;
      return (await Promise.all(lists)).flatMap((page): { id: string; name: string }[] => page.data);
    },
  });
  return (id) => data.find((one) => one.id === id)?.name ?? `${id.slice(0, 8)}…`;
}
export const useMembers = (id: string) =>
  useQuery({
    queryKey: ['teams', id, 'members'],
    queryFn: () => read(api.teams[':id'].members.$get({ param: { id } })),
  });
/** Users by a part of the name or address, page by page. */
export const useUsers = (q = '') =>
  usePages({
    queryKey: ['users', q],
    readPage: (at) => read(api.users.$get({ query: { limit: LIMIT, ...named(q), ...at } })),
    keepsPrevious: true,
  });
export const useIdentityProviders = () =>
  useQuery({
    queryKey: ['identity-providers'],
    queryFn: () => read(api['identity-providers'].$get({ query: { limit: LIMIT } })),
  });
