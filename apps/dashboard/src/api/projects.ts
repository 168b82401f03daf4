import type { AnswerFrom, SentTo } from '@llm0/gateway/admin/route-types';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { repeatedNames, sortedByName, tellApart } from '../format/tell-apart';
import { UUID } from '../range/uuid';
import { api, read, readOrNull } from './client';
import { usePages } from './pages';

export type Project = AnswerFrom<typeof api.projects.$get>['data'][number];
export type ProjectInput = SentTo<(typeof api.projects)[':id']['$patch']>['json'];
export type Key = AnswerFrom<(typeof api.projects)[':id']['keys']['$get']>['data'][number];
export type KeyWithSecret = AnswerFrom<(typeof api.projects)[':id']['keys']['$post']>;
export type KeyInput = SentTo<(typeof api.projects)[':id']['keys']['$post']>['json'];
export type Customer = AnswerFrom<typeof api.customers.$get>['data'][number];
export type CustomerLimitsInput = SentTo<
  (typeof api.projects)[':id']['customers'][':customer_id']['limits']['$put']
>['json'];

/** Maximum of one answer; beyond it, users search instead of scrolling. */
const ALL = '1000';
const PAGE_SIZE = '100';
const MOST_TEAMS = '200';
const MOST_DELETED = '200';
/** Days of the bars in lists, today included. */
export const SPARK_DAYS = 14;
const SPEND_DAYS = String(SPARK_DAYS);
/** Maximum of one query. */
const MAX_NAMES = 100;

export const useProjects = () =>
  useQuery({ queryKey: ['projects'], queryFn: () => read(api.projects.$get({ query: { limit: ALL } })) });

/** Ids → names of projects that differ; asks for teams only where names don't. */
function useNamesById(): ReadonlyMap<string, string> {
  const { data } = useProjects();
  const projects = data?.data ?? NO_PROJECTS;
  const teams = useQuery({
    queryKey: ['teams', 'names'],
    queryFn: () => read(api.teams.$get({ query: { limit: MOST_TEAMS } })),
    enabled: repeatedNames(projects.map(({ name }) => name)).size > 0,
  }).data;
  return useMemo(() => {
    const teamNames = new Map(teams?.data.map(({ id, name }) => [id, name]));
    return tellApart(projects, ({ team_id: id }) => teamNames.get(id ?? ''));
  }, [projects, teams]);
}
const NO_PROJECTS: readonly Project[] = [];

/** Ids → names of projects, for lists, tables and legends; no two are the same. */
export function useProjectNames(): (id: string) => string {
  const names = useNamesById();
  const deleted = useQuery({
    queryKey: ['projects', 'deleted'],
    queryFn: () => read(api.projects.$get({ query: { deleted: 'true', limit: MOST_DELETED } })),
  }).data;
  return useMemo(() => {
    const live = new Set(names.values());
    const gone = new Map(deleted?.data.map(({ id, name }) => [id, live.has(name) ? `${name} (deleted)` : name]));
    return (id) => names.get(id) ?? gone.get(id) ?? `${id.slice(0, 8)}…`;
  }, [names, deleted]);
}

/** To choose one from, by name. */
export function useProjectOptions(): readonly (readonly [id: string, name: string])[] {
  const names = useNamesById();
  return useMemo(() => sortedByName(names), [names]);
}

/** Keys of a project as their list shows them, with the spend of the last days. */
export const useListedKeys = (projectId: string, q: string) =>
  usePages({
    queryKey: ['keys', projectId, q, 'days'],
    readPage: (at) => {
      const query = { limit: PAGE_SIZE, spend_days: SPEND_DAYS, ...(q === '' ? {} : { q }), ...at };
      return read(api.projects[':id'].keys.$get({ param: { id: projectId }, query }));
    },
    keepsPrevious: true,
  });

/** Keys of a project, newest first, page by page; `q` is part of a name or of the first characters. */
export const useKeys = (projectId: string, q: string, isEnabled = true) =>
  usePages({
    isEnabled,
    queryKey: ['keys', projectId, q],
    readPage: (at) => {
      const query = { limit: PAGE_SIZE, ...(q === '' ? {} : { q }), ...at };
      return read(api.projects[':id'].keys.$get({ param: { id: projectId }, query }));
    },
    keepsPrevious: true,
  });

/** Ids → names of keys, of these only: a project may have thousands. */
export function useKeyNames(ids: readonly string[]): (id: string) => string {
  const known = [...new Set(ids)].filter((id) => UUID.test(id)).sort();
  const asked = known.slice(0, MAX_NAMES).join(',');
  const { data } = useQuery({
    queryKey: ['keys', 'names', asked],
    queryFn: () => read(api['key-names'].$get({ query: { ids: asked } })),
    enabled: asked !== '',
    placeholderData: keepPreviousData,
  });
  return useMemo(() => {
    const names = tellApart(data?.data ?? []);
    return (id) => names.get(id) ?? id;
  }, [data]);
}

export interface CustomerQuery {
  readonly from?: string;
  readonly to?: string;
  readonly project_id?: string;
  readonly q?: string;
}

/** Customers, the dearest first, page by page. */
export const useCustomers = (query: CustomerQuery, isEnabled = true) =>
  usePages({
    isEnabled,
    queryKey: ['customers', query],
    readPage: (at) =>
      read(api.customers.$get({ query: { ...query, limit: PAGE_SIZE, spend_days: SPEND_DAYS, ...at } })),
    keepsPrevious: true,
  });

/** Customers with limits, the dearest first; `next_cursor` where there are more than one answer holds. */
export const useLimitedCustomers = (query: CustomerQuery) =>
  useQuery({
    queryKey: ['customers', 'limited', query],
    queryFn: () => read(api.customers.$get({ query: { ...query, has_limits: 'true', limit: ALL } })),
    placeholderData: keepPreviousData,
  });

export const useCustomerLimits = (at: { projectId: string; customerId: string }) =>
  useQuery({
    queryKey: ['customer-limits', at],
    // null without stored ones: the form starts empty.
    queryFn: () => {
      const param = { id: at.projectId, customer_id: encodeURIComponent(at.customerId) };
      return readOrNull(api.projects[':id'].customers[':customer_id'].limits.$get({ param }));
    },
  });

/** The customer that `<project> <customer>` names, whether it has spent anything or not; null without such a project. */
export async function findCustomer(id: string): Promise<Customer | null> {
  const [projectId = '', customerId] = [id.slice(0, 36), id.slice(37)];
  if (!UUID.test(projectId) || customerId === '') return null;
  if ((await readOrNull(api.projects[':id'].$get({ param: { id: projectId } }))) === null) return null;
  const { data } = await read(api.customers.$get({ query: { project_id: projectId, q: customerId, limit: ALL } }));
  return (
    data.find((one) => one.customer_id === customerId) ?? { ...UNSEEN, project_id: projectId, customer_id: customerId }
  );
}

const UNSEEN = {
  ...{ requests: 0, tokens_in: 0, tokens_out: 0, cost_usd: 0, saved_usd: 0, today_usd: 0, month_usd: 0 },
  ...{ has_limits: false, daily_spend_limit_usd: null, monthly_spend_limit_usd: null, spend_by_day: null },
};

/** One key, loaded or not; null if missing. */
export async function findKey(projectId: string, keyId: string): Promise<Key | null> {
  const param = { id: projectId, key_id: keyId };
  const key = await readOrNull(api.projects[':id'].keys[':key_id'].$get({ param }));
  if (key === null) return null;
  // Only the list tells the usage.
  const query = { q: key.prefix, limit: PAGE_SIZE };
  const { data } = await read(api.projects[':id'].keys.$get({ param: { id: projectId }, query }));
  return (
    data.find(({ id }) => id === keyId) ?? {
      ...{ ...key, requests: 0, spent_usd: 0, last_used_at: null, spend_by_day: null },
    }
  );
}
