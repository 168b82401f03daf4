import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import type { Provider } from '../../api/routing';
import { Badge, type Tone } from '../../ui/badge';
import { EmptyState } from '../../ui/empty-state';
import { Form, TextField } from '../../ui/form';
import { ChangeButton } from '../forms/change-button';

const TONES: Readonly<Record<string, Tone>> = {
  ok: 'good',
  resting: 'warn',
  refused: 'bad',
  unreadable: 'bad',
  inactive: 'neutral',
};

interface Props {
  readonly provider: Pick<Provider, 'name' | 'keys'>;
  readonly onRemove: (keyId: string) => void;
}

/** Keys of a provider, of which only the last characters are known, and a place for another. */
export function StoredKeys({ provider: { name, keys }, onRemove }: Props) {
  const [key, setKey] = useState('');
  const add = useChange({
    run: () => read(api.providers[':name'].keys.$post({ param: { name }, json: { key } })),
    affects: [['providers'], ['system']],
    done: 'The key is stored, and in use',
  });
  return (
    <section>
      <h3 className="mb-1 text-xs font-semibold text-muted">Stored keys</h3>
      {keys.length === 0 && (
        <EmptyState title="None">A key from the gateway's environment is used, where there is one.</EmptyState>
      )}
      <ul className="divide-y">
        {keys.map((one) => (
          <li key={one.id} className="flex items-center justify-between gap-3 py-1.5">
            <span>
              {one.name} <code className="font-mono text-xs text-muted">…{one.last_characters}</code>{' '}
              <Badge tone={TONES[one.state]}>{one.state}</Badge>
            </span>
            <ChangeButton size="small" kind="danger" onClick={() => onRemove(one.id)}>
              Delete
            </ChangeButton>
          </li>
        ))}
      </ul>
      <Form
        className="mt-2 flex items-end gap-2"
        onSubmit={() => add.mutate(undefined, { onSuccess: () => setKey('') })}
      >
        <div className="grow">
          <TextField
            label="Another key"
            type="password"
            autoComplete="off"
            value={key}
            error={add.error?.message}
            onValue={setKey}
          />
        </div>
        <ChangeButton type="submit" disabled={key === ''}>
          Store
        </ChangeButton>
      </Form>
    </section>
  );
}
