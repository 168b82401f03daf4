import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { useSession } from '../../api/session';
import { useExampleModel, useSystem } from '../../api/settings';
import type { Turns } from './conversation';
import { type Settings, withExample } from './draft';
import { mediaBody, mediaOf } from './media';
import { PlaygroundStore } from './playground-store';
import { openCalls, prepareBody, readOther, schemaOf } from './prepare-body';
import { listModels, type Sender } from './send-chat';

const STORE = ['playground'] as const;

/** Stored beside the query cache: signing out clears both. */
export function usePlaygroundStore(): PlaygroundStore {
  const client = useQueryClient();
  const owner = useSession().data?.name ?? '';
  return useMemo(() => {
    client.setQueryDefaults(STORE, { gcTime: Number.POSITIVE_INFINITY });
    const key = [...STORE, owner];
    const known = client.getQueryData<PlaygroundStore>(key);
    if (known !== undefined) return known;
    const made = new PlaygroundStore(owner, sessionStorage);
    client.setQueryData(key, made);
    return made;
  }, [client, owner]);
}

/** All that the page shows and does. */
export function usePlayground() {
  const store = usePlaygroundStore();
  const state = useSyncExternalStore(store.subscribe, store.get);
  const { draft, pastedKey } = state;
  const example = useExampleModel();
  const sender = useMemo(
    () => senderOf(draft.sendAs, pastedKey, draft.projectId, draft.keyId),
    [draft.sendAs, pastedKey, draft.projectId, draft.keyId],
  );
  const models = useQuery({
    queryKey: ['playground-models', sender],
    enabled: sender !== null,
    retry: false,
    queryFn: ({ signal }) => listModels(sender as Sender, signal),
    staleTime: 60_000,
  });
  useEffect(() => {
    addEventListener('pagehide', store.store);
    return () => removeEventListener('pagehide', store.store);
  }, [store]);
  const isCallable = useSystem().isSuccess && models.data?.some(({ id }) => id === example) === true;
  // Once: who empties the field goes on to type.
  useEffect(() => {
    if (isCallable) store.change({ models: withExample(store.get().draft.models, example) });
  }, [isCallable, example, store]);
  const { turns } = draft;
  const prepared = useMemo(() => prepareBody({ ...draft, turns }), [draft, turns]);
  const unanswered = openCalls(turns);
  const askMedia = (model: string, said: Turns = turns) => {
    const media = mediaOf(models.data ?? [], model);
    return media && { media, body: mediaBody(media, said, readOther(draft.settings.other)) };
  };
  /** `isAnew`: another answer is wanted, not the one that a cache has. */
  const send = (given: Turns = turns, isAnew = false) => {
    const { body, headers: own, problems } = prepareBody({ ...draft, turns: given });
    if (sender === null || problems.length > 0 || openCalls(given).length > 0) return;
    if (given !== turns) store.change({ turns: given });
    const headers = { ...(isAnew ? { 'X-LLM0-Cache': 'refresh' } : {}), ...own };
    const asked = draft.models.map((model) => model.trim() || example);
    const media = (model: string) => askMedia(model, given);
    void store.ask({ sender, models: asked, body, mediaOf: media, headers, schema: schemaOf(draft.settings) });
  };
  const set = (change: Partial<Settings>) => store.change({ settings: { ...draft.settings, ...change } });
  return { ...{ store, state, draft, sender, models, example, prepared, unanswered, send, set }, mediaOf: askMedia };
}

export type Playground = ReturnType<typeof usePlayground>;

function senderOf(sendAs: 'key' | 'pasted', apiKey: string, projectId: string, keyId: string): Sender | null {
  if (sendAs === 'pasted') return apiKey === '' ? null : { apiKey };
  return projectId === '' || keyId === '' ? null : { projectId, keyId };
}
