import type { AnswerFrom, SentTo } from '@llm0/gateway/admin/route-types';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, read } from './client';
import { usePages } from './pages';
import type { StatsQuery } from './stats';

type Route = (typeof api.projects)[':id']['guardrails'];
export type Policy = AnswerFrom<Route['$get']>;
export type PolicyInput = SentTo<Route['$put']>['json'];
export type Rule = Policy['rules'][number];
export type RuleInput = NonNullable<PolicyInput['rules']>[number];
export type PolicyVersion = AnswerFrom<Route['versions']['$get']>['data'][number];
export type Tried = AnswerFrom<Route['try']['$post']>;
export type Replayed = AnswerFrom<Route['replay']['$post']>;
export type GuardrailBucket = AnswerFrom<typeof api.stats.guardrails.$get>['buckets'][number];

const PAGE_SIZE = '50';
const REFRESH_MS = 30_000;

const routeOf = (projectId: string) => ({ route: api.projects[':id'].guardrails, param: { id: projectId } });

export const policyKey = (projectId: string) => ['guardrails', projectId];

export const usePolicy = (projectId: string) =>
  useQuery({
    queryKey: policyKey(projectId),
    queryFn: () => {
      const { route, param } = routeOf(projectId);
      return read(route.$get({ param }));
    },
  });

/** Saves the whole policy; throws if another user saved since it was loaded. */
export function savePolicy(projectId: string, { mode, rules, pseudonym_scope, version }: PolicyInput): Promise<Policy> {
  const { route, param } = routeOf(projectId);
  return read(route.$put({ param, json: { mode, rules, pseudonym_scope, version } }));
}

export const usePolicyVersions = (projectId: string) =>
  usePages({
    queryKey: [...policyKey(projectId), 'versions'],
    readPage: (at) => {
      const { route, param } = routeOf(projectId);
      return read(route.versions.$get({ param, query: { limit: PAGE_SIZE, ...at } }));
    },
  });

export function rollBack(projectId: string, version: number): Promise<Policy> {
  const { route, param } = routeOf(projectId);
  return read(route.rollback.$post({ param, json: { version } }));
}

/** Tests each rule on a text; nothing is sent or stored. */
export function tryText(projectId: string, json: SentTo<Route['try']['$post']>['json']): Promise<Tried> {
  const { route, param } = routeOf(projectId);
  return read(route.try.$post({ param, json }));
}

/** Tests the rules on stored requests. */
export function replayRules(projectId: string, json: SentTo<Route['replay']['$post']>['json']): Promise<Replayed> {
  const { route, param } = routeOf(projectId);
  return read(route.replay.$post({ param, json }));
}

/** Guardrail findings by rule, check, action, outcome or project. */
export const useGuardrailStats = (query: StatsQuery) =>
  useQuery({
    queryKey: ['stats', 'guardrails', query],
    queryFn: () => read(api.stats.guardrails.$get({ query: { ...query, group_by: query.group_by as 'rule' } })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
