import { useState } from 'react';
import type { Backend, BackendChanges, BackendTest } from '../../api/backends';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { formatMs } from '../../format/format-number';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { ChangeButton } from '../forms/change-button';
import { ConfirmButton } from '../forms/confirm-button';
import { SpecForm } from '../forms/spec-form';
import { useSave } from '../forms/use-save';
import { asFields, BACKEND_FIELDS, backendBody } from './backend-fields';

const AFFECTS = [['backends']];

/** One backend: whether it answers, and its settings. */
export function BackendDialog({ of: backend, onClose }: DialogOf<Backend>) {
  const param = { id: backend.id };
  const save = useSave({
    asFields,
    read: () => api.backends[':id'].$get({ param }),
    write: (changes, options) =>
      api.backends[':id'].$patch({ param, json: backendBody(changes) as BackendChanges }, options),
    affects: AFFECTS,
    done: 'Saved. Changes apply from the next request.',
  });
  const forget = useChange({
    run: () => api.backends[':id'].$delete({ param }),
    affects: AFFECTS,
    done: 'Backend deleted',
  });
  const names = backend.header_names.join(', ');
  return (
    <Dialog title={backend.name} description={`Reached at /infer/${backend.name}/`} onClose={onClose}>
      <div className="grid gap-4">
        {names !== '' && <p className="text-muted wrap-anywhere">Stored headers: {names}</p>}
        <SpecForm
          key={backend.updated_at}
          specs={BACKEND_FIELDS}
          resource={asFields(backend)}
          submitLabel="Save settings"
          change={save}
          onSubmit={(_, edit) => save.mutate(edit)}
        >
          <TestButton id={backend.id} />
        </SpecForm>
        <div className="flex justify-end">
          <ConfirmButton
            title={`Delete ${backend.name}?`}
            impact="Requests to it are answered with 404 from now on. Those in the log stay."
            confirmLabel="Delete backend"
            change={forget}
            onConfirm={() => forget.mutate(undefined, { onSuccess: onClose })}
          >
            Delete backend
          </ConfirmButton>
        </div>
      </div>
    </Dialog>
  );
}

/** Asks the backend for its health, which is free. */
function TestButton({ id }: { readonly id: string }) {
  const [result, setResult] = useState<BackendTest | null>(null);
  const test = useChange({
    run: () => read(api.backends[':id'].test.$post({ param: { id }, json: {} })),
    affects: [],
  });
  return (
    <span className="inline-flex flex-wrap items-center gap-2">
      {result !== null && (
        <span className={`wrap-anywhere ${result.ok ? 'text-good' : 'text-bad'}`}>{describeTest(result)}</span>
      )}
      {test.error && <span className="text-bad">{test.error.message}</span>}
      <ChangeButton disabled={test.isPending} onClick={() => test.mutate(undefined, { onSuccess: setResult })}>
        {test.isPending ? 'Testing…' : 'Test connection'}
      </ChangeButton>
    </span>
  );
}

const describeTest = ({ ok, status, latency_ms: ms, error }: BackendTest): string =>
  ok && ms !== null ? `Answered ${status} in ${formatMs(ms)} with the saved settings` : (error ?? 'It did not answer.');
