import type { AnswerFrom, SentTo } from '@llm0/gateway/admin/route-types';
import { useQuery } from '@tanstack/react-query';
import { api, read } from '../../api/client';
import { usePages } from '../../api/pages';

export type Team = AnswerFrom<typeof api.teams.$get>['data'][number];
/** Without the counts of the list. */
export type OneTeam = AnswerFrom<(typeof api.teams)[':id']['$get']>;
export type TeamInput = SentTo<typeof api.teams.$post>['json'];
export type Member = AnswerFrom<(typeof api.teams)[':id']['members']['$get']>['data'][number];
export type Shares = AnswerFrom<(typeof api.teams)[':id']['shares']['$get']>;
export type MemberInput = SentTo<(typeof api.teams)[':id']['members']['$post']>['json'];
export type Organization = AnswerFrom<typeof api.organizations.$get>['data'][number];
export type OrganizationInput = SentTo<typeof api.organizations.$post>['json'];
export type User = AnswerFrom<typeof api.users.$get>['data'][number];
export type UserInput = SentTo<typeof api.users.$post>['json'];
export type IdentityProvider = AnswerFrom<(typeof api)['identity-providers']['$get']>['data'][number];
export type IdentityProviderInput = SentTo<(typeof api)['identity-providers']['$post']>['json'];

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
const NAMES = {
  teams: async (id: string) => (await read(api.teams[':id'].$get({ param: { id } }))).name,
  organizations: async (id: string) => (await read(api.organizations[':id'].$get({ param: { id } }))).name,
  users: async (id: string) => (await read(api.users[':id'].$get({ param: { id } }))).name,
} as const;

/** Name by the id; undefined until it is known, and without an id. */
export const useNameOf = (what: keyof typeof NAMES, id: string | undefined): string | undefined =>
  useQuery({
    queryKey: [what, id, 'name'],
    enabled: id !== undefined && id !== '',
    queryFn: () => NAMES[what](id ?? ''),
  }).data;

/** Names of the team and the organization that a view is narrowed to. */
export function useLevelNames({ team_id: teamId, organization_id: organizationId }: Narrowed): (id: string) => string {
  const team = useNameOf('teams', teamId);
  const organization = useNameOf('organizations', organizationId);
  return (id) => (id === teamId ? team : id === organizationId ? organization : undefined) ?? shortId(id);
}

interface Narrowed {
  readonly team_id?: string | undefined;
  readonly organization_id?: string | undefined;
}

/** Stands for an unknown name. */
export const shortId = (id: string): string => `${id.slice(0, 8)}…`;

export const useMembers = (id: string) =>
  useQuery({
    queryKey: ['teams', id, 'members'],
    queryFn: () => read(api.teams[':id'].members.$get({ param: { id } })),
  });
export const useShares = (id: string) =>
  useQuery({
    queryKey: ['teams', id, 'shares'],
    queryFn: () => read(api.teams[':id'].shares.$get({ param: { id } })),
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
