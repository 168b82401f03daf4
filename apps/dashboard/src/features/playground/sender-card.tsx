import { useEffect, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useKeyNames, useKeys, useProjectOptions, useProjects } from '../../api/projects';
import { useMayChange } from '../../api/session';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { ChosenCombobox } from '../../ui/combobox/chosen-combobox';
import { Failure } from '../../ui/error-state';
import { Field, TextField } from '../../ui/form';
import { Segmented } from '../../ui/segmented';
import { useSettled } from '../../ui/use-settled';
import type { Playground } from './use-playground';

const KEY_HOURS = 24;
const KEY_BUDGET_USD = '1';
const HOWS = { key: 'Project key', pasted: 'Pasted key' } as const;

/** Key whose limits, budgets and caches apply. */
export function SenderCard({ playground }: { readonly playground: Playground }) {
  const { draft, store, state, models } = playground;
  const mayChange = useMayChange();
  const how = mayChange ? draft.sendAs : 'pasted';
  useEffect(() => {
    if (how !== draft.sendAs) store.change({ sendAs: how });
  }, [how, draft.sendAs, store]);
  return (
    <Card title="Send as">
      <div className="grid gap-3">
        {mayChange ? (
          <Segmented label="Send as" options={HOWS} value={how} onChange={(sendAs) => store.change({ sendAs })} />
        ) : (
          <p className="text-xs text-muted">Your token is read-only. Paste a key to send requests.</p>
        )}
        {how === 'key' ? (
          <ChosenKey playground={playground} />
        ) : (
          <TextField
            label="Key"
            type="password"
            autoComplete="off"
            placeholder="llm0_live_…"
            value={state.pastedKey}
            hint="Kept only in this page's memory, until you reload or sign out."
            onValue={(text) => store.paste(text.trim())}
          />
        )}
        <Failure of={{ error: models.error }} />
      </div>
    </Card>
  );
}

function ChosenKey({ playground: { draft, store } }: { readonly playground: Playground }) {
  const projects = useProjects();
  const options = useProjectOptions();
  const { projectId, keyId } = draft;
  const list = projects.data?.data ?? [];
  const off = new Set(list.filter(({ is_active: isActive }) => !isActive).map(({ id }) => id));
  const [typed, setTyped] = useState('');
  const keys = useKeys(projectId, useSettled(typed), projectId !== '');
  const rows = keys.data?.rows ?? [];
  const nameOf = useKeyNames(keyId === '' ? [] : [keyId]);
  // A first choice, so that a page opened for the first time can send at once.
  const first = list.findLast(({ is_active: isActive }) => isActive)?.id;
  useEffect(() => {
    if (projectId === '' && first !== undefined) store.change({ projectId: first });
  }, [projectId, first, store]);
  const usable = typed === '' ? rows.find((key) => key.is_active && key.project_id === projectId)?.id : undefined;
  useEffect(() => {
    if (keyId === '' && usable !== undefined) store.change({ keyId: usable });
  }, [keyId, usable, store]);
  const choices = rows.map(({ id, name, prefix, is_active: isActive }) => ({
    ...{ value: id, label: name, note: isActive ? `${prefix}…` : `${prefix}… (revoked)` },
  }));
  const isKnown = keyId === '' || choices.some(({ value }) => value === keyId);
  return (
    <>
      <Field label="Project">
        {(wiring) => (
          <ChosenCombobox
            {...wiring}
            value={projectId}
            choices={options.map(([id, label]) => ({ value: id, label, note: off.has(id) ? 'off' : undefined }))}
            emptyNote="No matching project"
            onValue={(id) => id !== projectId && store.change({ projectId: id, keyId: '' })}
          />
        )}
      </Field>
      <Field label="Key">
        {(wiring) => (
          <ChosenCombobox
            {...wiring}
            value={keyId}
            choices={isKnown ? choices : [...choices, { value: keyId, label: nameOf(keyId) }]}
            placeholder="Choose a key"
            emptyNote={typed === '' ? 'This project has no keys yet' : 'No matching key'}
            onSearch={setTyped}
            onValue={(id) => store.change({ keyId: id })}
          />
        )}
      </Field>
      <p className="text-xs text-muted">
        Requests count toward this key's limits and budget and use its caches. The audit log names you.
      </p>
      {keys.isSuccess && rows.length === 0 && typed === '' && (
        <MakeKey projectId={projectId} onKey={(id) => store.change({ keyId: id })} />
      )}
      <Failure of={keys} />
    </>
  );
}

interface MakeKeyProps {
  readonly projectId: string;
  readonly onKey: (id: string) => void;
}

function MakeKey({ projectId, onKey }: MakeKeyProps) {
  const create = useChange({
    run: () => {
      const expiresAt = new Date(Date.now() + KEY_HOURS * 3_600_000).toISOString();
      const json = { name: 'playground', budget_usd: KEY_BUDGET_USD, expires_at: expiresAt };
      return read(api.projects[':id'].keys.$post({ param: { id: projectId }, json }));
    },
    affects: [['keys']],
    done: `Created a key for ${KEY_HOURS} hours with a $${KEY_BUDGET_USD} budget`,
  });
  return (
    <div className="grid justify-items-start gap-1.5">
      <Button
        size="small"
        disabled={create.isPending}
        onClick={() => create.mutate(undefined, { onSuccess: ({ id }) => onKey(id) })}
      >
        Create a one-day key
      </Button>
      <Failure of={create} />
    </div>
  );
}
