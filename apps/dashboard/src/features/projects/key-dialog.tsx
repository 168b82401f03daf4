import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import type { Key, KeyInput, KeyWithSecret } from '../../api/projects';
import { useMayChange } from '../../api/session';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { KEY_FIELDS } from './field-specs';
import { SpecForm } from './spec-form';

interface Props {
  readonly apiKey: Key;
  readonly onClose: () => void;
  readonly onSecret: (key: KeyWithSecret) => void;
}

/** A key's limits; rotate and revoke ask once more. */
export function KeyDialog({ apiKey, onClose, onSecret }: Props) {
  const mayChange = useMayChange();
  const [asked, setAsked] = useState<'rotate' | 'revoke' | null>(null);
  const param = { id: apiKey.project_id, key_id: apiKey.id };
  const routes = api.projects[':id'].keys[':key_id'];
  const affects = [['keys'], ['budgets']];
  const save = useChange({
    run: (json: KeyInput) => read(routes.$patch({ param, json })),
    affects,
    done: 'Saved; it holds from the next request on',
  });
  const rotate = useChange({ run: () => read(routes.rotate.$post({ param })), affects });
  const revoke = useChange({ run: () => routes.$delete({ param }), affects, done: 'The key is refused from now on' });
  const confirm = () => {
    if (asked === 'revoke') revoke.mutate(undefined, { onSuccess: onClose });
    if (asked === 'rotate') {
      rotate.mutate(undefined, {
        onSuccess: (key) => {
          onClose();
          onSecret(key);
        },
      });
    }
  };
  return (
    <Dialog title={apiKey.name} description={`${apiKey.prefix}…`} open onClose={onClose}>
      {asked !== null ? (
        <div className="grid gap-3">
          <p>
            {asked === 'rotate'
              ? 'The key gets a new secret; the old one is refused from the next request on.'
              : 'Requests with this key are refused from the next one on. This cannot be undone.'}
          </p>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAsked(null)}>Back</Button>
            <Button kind="danger" disabled={rotate.isPending || revoke.isPending} onClick={confirm}>
              {asked === 'rotate' ? 'Rotate now' : 'Revoke now'}
            </Button>
          </div>
        </div>
      ) : (
        <SpecForm
          specs={KEY_FIELDS}
          resource={apiKey}
          submitLabel="Save"
          isPending={save.isPending}
          error={save.error ?? rotate.error ?? revoke.error}
          disabled={!mayChange || !apiKey.is_active}
          onSubmit={(body) => save.mutate(body as unknown as KeyInput, { onSuccess: onClose })}
        >
          <Button disabled={!mayChange || !apiKey.is_active} onClick={() => setAsked('rotate')}>
            Rotate
          </Button>
          <Button kind="danger" disabled={!mayChange || !apiKey.is_active} onClick={() => setAsked('revoke')}>
            Revoke
          </Button>
        </SpecForm>
      )}
    </Dialog>
  );
}
