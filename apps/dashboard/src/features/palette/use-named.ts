import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, read } from '../../api/client';
import { useMay } from '../../api/session';
import { useAlerts } from '../../api/settings';
import { toNamed } from './find-named';
import type { Command } from './prepare-palette';

/** Alerts and chains, and teams and users by a part of their names: what the session may read, and whose page it sees. */
export function useNamed(q: string, limit: string): readonly Command[] {
  const seesTeams = useMay('read_settings');
  const seesUsers = useMay('change_system');
  const seesChains = useMay('read_system');
  const query = { q, limit };
  const found = { placeholderData: keepPreviousData };
  const alerts = useAlerts().data?.data;
  const chains = useQuery({
    queryKey: ['chains'],
    queryFn: () => read(api.chains.$get()),
    enabled: seesChains,
  }).data?.data;
  const teams = useQuery({
    ...{ ...found, queryKey: ['teams', 'found', q], enabled: seesTeams && q !== '' },
    queryFn: () => read(api.teams.$get({ query })),
  }).data?.data;
  const users = useQuery({
    ...{ ...found, queryKey: ['users', 'found', q], enabled: seesUsers && q !== '' },
    queryFn: () => read(api.users.$get({ query })),
  }).data?.data;
  return useMemo(() => toNamed({ alerts, chains, teams, users }), [alerts, chains, teams, users]);
}
