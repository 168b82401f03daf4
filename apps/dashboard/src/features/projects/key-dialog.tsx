import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import type { Key, KeyInput, KeyWithSecret } from '../../api/projects';
import { saveChanges } from '../../api/save-changes';
import { Button } from '../../ui/button';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { type Options, SelectField } from '../../ui/form';
import { ChangeButton } from '../forms/change-button';
import { type Edit, SpecForm } from '../forms/spec-form';
import { useRecentRequests } from '../forms/use-impact';
import { KEY_FIELDS } from './field-specs';
import { KeyUsage } from './key-usage';

interface Props extends DialogOf<Key> {
  readonly onSecret: (key: KeyWithSecret) => void;
}

const QUESTIONS = {
  rotate: {
    title: 'Rotate',
    text: 'The key gets a new secret. A secret that an earlier rotation kept ends now.',
    confirmLabel: 'Rotate now',
  },
  revoke: {
    title: 'Revoke',
    text: 'All further requests with this key are refused. This cannot be undone.',
    confirmLabel: 'Revoke now',
  },
} as const;

/** Seconds for which a replaced secret works. */
const GRACES: Options = [
  ['3600', 'works for 1 hour'],
  ['86400', 'works for 24 hours'],
  ['0', 'ends with the next request'],
];

/** A key's usage and limits; rotate and revoke ask once more. */
export function KeyDialog({ of: apiKey, onClose, onSecret }: Props) {
  const [asked, setAsked] = useState<keyof typeof QUESTIONS | null>(null);
  const [grace, setGrace] = useState('3600');
  const recent = useRecentRequests({ project_id: apiKey.project_id, group_by: 'key', is: apiKey.id });
  const { save, rotate, revoke } = useKeyChanges(apiKey);
  const title = asked === null ? apiKey.name : `${QUESTIONS[asked].title} ${apiKey.name}?`;
  const confirmed = {
    revoke: () => revoke.mutate(undefined, { onSuccess: onClose }),
    rotate: () =>
      rotate.mutate(Number(grace), {
        onSuccess: (key) => {
          onClose();
          onSecret(key);
        },
      }),
  };
  return (
    <Dialog title={title} description={`${apiKey.prefix}…`} onClose={onClose}>
      {asked !== null ? (
        <div className="grid gap-3">
          <p>
            {QUESTIONS[asked].text} It sent {recent}.
          </p>
          {asked === 'rotate' && (
            <SelectField label="The old secret" options={GRACES} value={grace} onValue={setGrace} />
          )}
          <Failure of={{ error: rotate.error ?? revoke.error }} />
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAsked(null)}>Back</Button>
            <Button kind="danger" disabled={rotate.isPending || revoke.isPending} onClick={confirmed[asked]}>
              {QUESTIONS[asked].confirmLabel}
            </Button>
          </div>
        </div>
      ) : (
        <>
          <KeyUsage of={apiKey} />
          <SpecForm
            specs={KEY_FIELDS}
            resource={apiKey}
            submitLabel="Save"
            change={save}
            otherError={rotate.error ?? revoke.error}
            disabled={!apiKey.is_active}
            onSubmit={(_, edit) => save.mutate(edit, { onSuccess: onClose })}
          >
            {!apiKey.is_sign_on && (
              <ChangeButton disabled={!apiKey.is_active} onClick={() => setAsked('rotate')}>
                Rotate
              </ChangeButton>
            )}
            <ChangeButton kind="danger" disabled={!apiKey.is_active} onClick={() => setAsked('revoke')}>
              Revoke
            </ChangeButton>
          </SpecForm>
        </>
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
      run: (edit: Edit) =>
        saveChanges({
          ...edit,
          read: () => routes.$get({ param }),
          write: (options) => routes.$patch({ param, json: edit.changes as Partial<KeyInput> }, options),
        }),
      affects,
      done: 'Saved. Changes apply from the next request.',
    }),
    rotate: useChange({
      run: (grace_seconds: number) => read(routes.rotate.$post({ param, json: { grace_seconds } })),
      affects,
    }),
    revoke: useChange({ run: () => routes.$delete({ param }), affects, done: 'Key revoked' }),
  };
}
