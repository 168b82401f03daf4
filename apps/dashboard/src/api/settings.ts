import type { AnswerFrom, SentTo } from '@llm0/gateway/admin/route-types';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, read } from './client';
import { useLive } from './live';
import { usePages } from './pages';
import { useSession } from './session';

export type Token = AnswerFrom<typeof api.tokens.$get>['data'][number];
export type ListedAlert = AnswerFrom<typeof api.alerts.$get>['data'][number];
export type Alert = Omit<ListedAlert, 'firing' | 'told_at' | 'last_check'>;
export type AlertInput = SentTo<typeof api.alerts.$post>['json'];
export type AuditEntry = AnswerFrom<typeof api.audit.$get>['data'][number];
export type SystemLog = AnswerFrom<(typeof api)['system-logs']['$get']>['data'][number];

const LIMIT = '200';

export const useSystem = () => useQuery({ queryKey: ['system'], queryFn: () => read(api.system.$get()) });
export const useTokens = () =>
  useQuery({ queryKey: ['tokens'], queryFn: () => read(api.tokens.$get({ query: { limit: LIMIT } })) });
/** As often as the gateway checks. */
const CHECKED_MS = 30_000;

/** The stream tells of changed states; who shows what was measured last reads again after each check. */
export function useAlerts({ withChecks = false } = {}) {
  const mayRead = useSession().data?.permissions.includes('read_settings') === true;
  useLiveList('alerts');
  return useQuery({
    queryKey: ['alerts'],
    enabled: mayRead,
    refetchInterval: withChecks && CHECKED_MS,
    queryFn: () => read(api.alerts.$get({ query: { limit: LIMIT } })),
  });
}
export type Firing = AnswerFrom<(typeof api.alerts)[':id']['firings']['$get']>['data'][number];
/** The latest firings of one alert; reloads with the alerts. */
export const useAlertFirings = (id: string) =>
  useQuery({
    queryKey: ['alerts', id, 'firings'],
    queryFn: () => read(api.alerts[':id'].firings.$get({ param: { id }, query: { limit: '50' } })),
  });
/** Reloads the data that the stream reports as changed. */
function useLiveList(topic: 'alerts' | 'audit'): void {
  const client = useQueryClient();
  useLive({ topic, onNews: () => void client.invalidateQueries({ queryKey: [topic] }) });
}
export type AuditFilter = {
  readonly [K in 'actor' | 'action' | 'action_not' | 'resource' | 'resource_id' | 'from']?: string;
};

/** Changes, newest first, page by page. */
export function useAudit(filter: AuditFilter) {
  useLiveList('audit');
  return usePages({
    queryKey: ['audit', filter],
    readPage: (at) => read(api.audit.$get({ query: { ...filter, limit: '100', ...at } })),
    keepsPrevious: true,
  });
}
export const useSystemLogs = (outcome: '' | 'ok' | 'error') =>
  useQuery({
    queryKey: ['system-logs', outcome],
    queryFn: () => read(api['system-logs'].$get({ query: { limit: LIMIT, ...(outcome === '' ? {} : { outcome }) } })),
  });

/** Base URL for programs: this page's, unless the data plane has its own port. */
export function useGatewayUrl(): string {
  const port = useSystem().data?.gateway_port ?? null;
  return port === null ? location.origin : `${location.protocol}//${location.hostname}:${port}`;
}

/** Model for first requests, if possible one without an account. */
export const useExampleModel = (): string =>
  useSystem().data?.providers.includes('demo') ? 'demo-chat' : 'gpt-4o-mini';
