import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, read } from '../../api/client';
import { useModels } from '../../api/models';
import { useProjectNames, useProjects } from '../../api/projects';
import { useAliases, useProviders } from '../../api/routing';
import { useMayChange, useSession } from '../../api/session';
import { type SavedView, useViews } from '../../api/views';
import { readSort } from '../../range/request-filter';
import { useSettled } from '../../ui/use-settled';
import { keepChosen } from '../requests/menus/prepare-columns';
import { fromSavedFilters } from '../requests/prepare-filters';
import { REQUEST_LISTS, toRequests } from './find-requests';
import { type Command, PAGE_COMMANDS, toCustomers } from './prepare-palette';
import { useModelUse } from './use-model-use';
import { useNamed } from './use-named';

const FOUND = '10';

const NEW: readonly (Omit<Command, 'kind'> & { readonly to: string })[] = [
  { id: 'new project', label: 'New project', words: 'create add', to: '/projects', search: { open: 'new-project' } },
  { id: 'new alias', label: 'New alias', words: 'create add', to: '/routing', search: { tab: 'aliases', open: 'new' } },
  {
    id: 'new chain',
    label: 'New fallback chain',
    words: 'create add',
    to: '/routing',
    search: { tab: 'chains', open: 'new' },
  },
  { id: 'new provider', label: 'Add provider', words: 'new create', to: '/routing', search: { open: 'new' } },
  { id: 'new alert', label: 'New alert', words: 'create add', to: '/alerts', search: { open: 'new' } },
  {
    id: 'new backend',
    label: 'Add HTTP backend',
    words: 'new create service',
    to: '/backends',
    search: { open: 'new' },
  },
  { id: 'new price', label: 'Price a model', words: 'new set', to: '/models', search: { open: 'new' } },
  {
    id: 'limit customer',
    label: 'Set customer limits',
    words: 'new budget rate limits',
    to: '/customers',
    search: { open: 'new' },
  },
  { id: 'purge', label: 'Purge cache', words: 'clear delete', to: '/cache', search: { open: 'purge' } },
];

/** All pages and actions; searches keys, customers, teams and users by the typed text. */
export function useCommands(typed: string, own: readonly Command[]): readonly Command[] {
  const mayChange = useMayChange();
  const permissions = useSession().data?.permissions;
  const { data: projects } = useProjects();
  const { data: aliases } = useAliases();
  const { data: providers } = useProviders();
  const { data: models } = useModels();
  const { data: views } = useViews();
  const projectName = useProjectNames();
  const modelUse = useModelUse();
  const q = useSettled(typed.trim());
  const found = useFound(q, projectName);
  const named = useNamed(q, FOUND);
  const fixed = useMemo(() => {
    const ofProjects = (projects?.data ?? []).flatMap(({ id }): Command[] => {
      const name = projectName(id);
      const at = { to: '/projects/$projectId', params: { projectId: id } };
      const newKey: Command = {
        ...{ id: `new key ${id}`, kind: 'action', label: 'New key', note: `in ${name}`, words: 'create add' },
        ...{ ...at, search: { open: 'new' } },
      };
      return [{ id: `project ${id}`, kind: 'project', label: name, ...at }, ...(mayChange ? [newKey] : [])];
    });
    const toAlias = ({ id, alias }: { id: string; alias: string }): Command => ({
      ...{ id: `alias ${id}`, kind: 'alias', label: alias, to: '/routing', search: { tab: 'aliases', open: id } },
    });
    const toProvider = ({ name, is_configured: isSetUp }: { name: string; is_configured: boolean }): Command => ({
      ...{ id: `provider ${name}`, kind: 'provider', label: name, note: isSetUp ? undefined : 'not set up' },
      ...{ words: 'provider keys', to: '/routing', search: { open: name } },
    });
    const toModel = ({ provider, model }: { provider: string; model: string }): Command => ({
      ...{ id: `model ${provider} ${model}`, kind: 'model', label: model, note: provider, to: '/models' },
      search: { open: `${provider} ${model}` },
      use: modelUse({ provider, model }),
    });
    const toView = ({ id, name, filters, sort, columns }: SavedView): Command => ({
      ...{ id: `view ${id}`, kind: 'view', label: name, note: 'Requests', to: '/requests' },
      filter: { ...fromSavedFilters(filters), sort: readSort(sort), view: id },
      run: () => keepChosen(columns),
    });
    const isAllowed = ({ needs }: Command) => needs === undefined || permissions?.includes(needs);
    const pages = PAGE_COMMANDS.filter(isAllowed);
    const isSeen = ({ to }: Pick<Command, 'to'>) => pages.some((page) => page.to === to);
    const actions = mayChange ? NEW.filter(isSeen).map((one): Command => ({ ...one, kind: 'action' })) : [];
    const routed = [...(aliases?.data ?? []).map(toAlias), ...(providers?.data ?? []).map(toProvider)];
    const listed = [...routed.filter(isSeen), ...(models ?? []).map(toModel), ...REQUEST_LISTS.filter(isAllowed)];
    return [...pages, ...ofProjects, ...actions, ...listed, ...(views?.data ?? []).map(toView)];
  }, [projects, projectName, aliases, providers, models, views, mayChange, permissions, modelUse]);
  return useMemo(
    () => [
      ...fixed,
      ...own,
      ...found,
      ...named,
      ...(permissions?.includes('read_logs') ? toRequests(typed.trim()) : []),
    ],
    [fixed, own, found, named, permissions, typed],
  );
}

/** Keys and customers by a part of their names. */
function useFound(q: string, projectName: (id: string) => string): readonly Command[] {
  const enabled = q !== '';
  const query = { q, limit: FOUND };
  const options = { enabled, placeholderData: keepPreviousData };
  const keys = useQuery({ ...options, queryKey: ['keys', 'found', q], queryFn: () => read(api.keys.$get({ query })) });
  const customers = useQuery({
    ...{ ...options, queryKey: ['customers', 'found', q] },
    queryFn: () => read(api.customers.$get({ query })),
  });
  return useMemo(() => {
    if (!enabled) return [];
    const toKey = ({ id, project_id: projectId, name, prefix, labels }: FoundKey): Command => ({
      ...{
        id: `key ${id}`,
        kind: 'key',
        label: name,
        note: `${prefix}…`,
        words: Object.values(labels ?? {}).join(' '),
      },
      ...{ to: '/projects/$projectId', params: { projectId }, search: { open: id } },
    });
    return [...(keys.data?.data ?? []).map(toKey), ...toCustomers(customers.data?.data ?? [], projectName)];
  }, [enabled, keys.data, customers.data, projectName]);
}

interface FoundKey {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly prefix: string;
  readonly labels: Readonly<Record<string, string>> | null;
}
