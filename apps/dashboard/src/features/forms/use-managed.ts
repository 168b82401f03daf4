import type { AnswerFrom } from '@llm0/gateway/admin/route-types';
import { useQuery } from '@tanstack/react-query';
import { api, read } from '../../api/client';
import { useMay } from '../../api/session';

/** A resource as the audit names it. */
export interface ResourceName {
  readonly resource: string;
  readonly id: string;
}

/** A configuration file that manages a resource. */
export type Manager = AnswerFrom<(typeof api)['managed-resources']['$get']>['data'][number];

/** What manages a resource. Asked anew for each form. */
export const useManagers = ({ resource, id }: ResourceName) =>
  useQuery({
    enabled: useMay('read_system'),
    queryKey: ['managers', resource, id],
    queryFn: async () => (await read(api['managed-resources'].$get({ query: { resource, resource_id: id } }))).data,
    staleTime: 0,
  });

const PAGE = '1000';

/** What manages resources of a kind, by their ids. By default asked anew, as a dialog needs it. */
export const useManagersOf = (resource: string, staleTime = 0) =>
  useQuery({
    enabled: useMay('read_system'),
    queryKey: ['managers', resource],
    queryFn: () => loadManagers(resource),
    staleTime,
  });

async function loadManagers(resource: string): Promise<ReadonlyMap<string, readonly Manager[]>> {
  const managers = new Map<string, Manager[]>();
  let cursor: string | undefined;
  do {
    const query = { resource, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const page: { data: Manager[]; next_cursor: string | null } = await read(api['managed-resources'].$get({ query }));
    for (const one of page.data) managers.set(one.resource_id, [...(managers.get(one.resource_id) ?? []), one]);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return managers;
}
