import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { api, read } from '../../api/client';
import { readBodies } from '../../api/logs';
import { useSession } from '../../api/session';
import { UUID } from '../../range/uuid';
import type { PlaygroundStore } from './playground-store';
import { prepareRerun } from './prepare-rerun';

/** `/playground?rerun=<request id>`: loads that request into the draft, once; the address is then the page's own again. */
export function useRerun(store: PlaygroundStore) {
  const { rerun: asked } = useSearch({ strict: false }) as { readonly rerun?: string };
  const navigate = useNavigate();
  const session = useSession().data;
  const mayRead = session?.can_read_bodies === true;
  const requestId = asked !== undefined && UUID.test(asked) ? asked : '';
  const logged = useQuery({
    queryKey: ['playground-rerun', requestId, mayRead],
    enabled: requestId !== '',
    retry: false,
    gcTime: 0,
    queryFn: () => load(requestId, mayRead),
  });
  const rerun = logged.data;
  useEffect(() => {
    if (requestId === '' || rerun === undefined) return;
    const { draft } = store.get();
    const sendAs = session?.permissions.includes('change_own_keys') ? ('key' as const) : ('pasted' as const);
    if (rerun === null) store.load(draft, [`Request ${requestId} was not found. It may have been deleted.`]);
    else store.load({ ...rerun.draft, sendAs }, rerun.missing);
    const search = (before: object) => ({ ...before, rerun: undefined }) as object;
    void navigate({ to: '.', search, replace: true, resetScroll: false });
  }, [requestId, rerun, session, store, navigate]);
  return { isLoading: logged.isLoading, error: logged.error };
}

async function load(requestId: string, mayRead: boolean) {
  const { data } = await read(api.logs.$get({ query: { request_id: requestId } }));
  const [log] = data;
  if (log === undefined) return null;
  if (!mayRead) return prepareRerun(log, null, 'Your token may not read prompts and answers.');
  const bodies = await readBodies(requestId);
  if (bodies === null) return prepareRerun(log, null, 'It was not stored, or is deleted.');
  return prepareRerun(log, bodies.request_body ?? null, 'It was not stored.');
}
