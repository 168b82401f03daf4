import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import type { Key, KeyInput, KeyWithSecret } from '../../api/projects';
import { Button } from '../../ui/button';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { ChangeButton } from '../forms/change-button';
import { SpecForm } from '../forms/spec-form';
import { KEY_FIELDS } from './field-specs';

interface Props extends DialogOf<Key> {
  readonly onSecret: (key: KeyWithSecret) => void;
}

const QUESTIONS = {
  rotate: {
    text: 'The key gets a new secret; the old one is refused from the next request on.',
    confirmLabel: 'Rotate now',
  },
  revoke: {
    text: 'Requests with this key are refused from the next one on. This cannot be undone.',
    confirmLabel: 'Revoke now',
  },
} as const;

/** A key's limits; rotate and revoke ask once more. */
export function KeyDialog({ of: apiKey, onClose, onSecret }: Props) {
  const [asked, setAsked] = useState<keyof typeof QUESTIONS | null>(null);
  const { save, rotate, revoke } = useKeyChanges(apiKey);
  const confirmed = {
    revoke: () => revoke.mutate(undefined, { onSuccess: onClose }),
    rotate: () =>
      rotate.mutate(undefined, {
        onSuccess: (key) => {
          onClose();
          onSecret(key);
        },
      }),
  };
  return (
    <Dialog title={apiKey.name} description={`${apiKey.prefix}…`} onClose={onClose}>
      {asked !== null ? (
        <div className="grid gap-3">
          <p>{QUESTIONS[asked].text}</p>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAsked(null)}>Back</Button>
            <Button kind="danger" disabled={rotate.isPending || revoke.isPending} onClick={confirmed[asked]}>
              {QUESTIONS[asked].confirmLabel}
            </Button>
          </div>
        </div>
      ) : (
        <SpecForm
          specs={KEY_FIELDS}
          resource={apiKey}
          submitLabel="Save"
          change={save}
          otherError={rotate.error ?? revoke.error}
          disabled={!apiKey.is_active}
          onSubmit={(body) => save.mutate(body as unknown as KeyInput, { onSuccess: onClose })}
        >
          <ChangeButton disabled={!apiKey.is_active} onClick={() => setAsked('rotate')}>
            Rotate
          </ChangeButton>
          <ChangeButton kind="danger" disabled={!apiKey.is_active} onClick={() => setAsked('revoke')}>
            Revoke
          </ChangeButton>
        </SpecForm>
      )}
    </Dialog>
  );
}

function useKeyChanges(apiKey: Key) {
  const param = { id: apiKey.project_id, key_id: apiKey.id };
  const routes = api.projects[':id'].keys[':key_id'];
  const affects = [['keys'], ['budgets']];
  return {
    save: useChange({
      run: (json: KeyInput) => read(routes.$patch({ param, json })),
      affects,
      done: 'Saved; it holds from the next request on',
    }),
    rotate: useChange({ run: () => read(routes.rotate.$post({ param })), affects }),
    revoke: useChange({ run: () => routes.$delete({ param }), affects, done: 'The key is refused from now on' }),
  };
}
