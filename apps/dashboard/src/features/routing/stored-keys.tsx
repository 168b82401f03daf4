import { type ComponentProps, type ReactNode, useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import type { Provider } from '../../api/routing';
import { countOf } from '../../format/format-number';
import { Badge, type Tone } from '../../ui/badge';
import { Form, TextField } from '../../ui/form';
import { ChangeButton } from '../forms/change-button';
import { ConfirmButton } from '../forms/confirm-button';

const TONES: Readonly<Record<string, Tone>> = {
  ok: 'good',
  resting: 'warn',
  refused: 'bad',
  unreadable: 'bad',
  inactive: 'neutral',
};

interface Props {
  readonly provider: Pick<Provider, 'name' | 'keys'>;
  readonly change: ComponentProps<typeof ConfirmButton>['change'];
  readonly onRemove: (keyId: string, close: () => void) => void;
  /** True for a key that a configuration file manages, until the user unlocks it. */
  readonly isLocked: (key: Provider['keys'][number]) => boolean;
  /** Says which keys are managed. */
  readonly note: ReactNode;
  /** Users of the provider. */
  readonly impact: string;
}

/** Keys of a provider, of which only the last characters are known, and a place for another. */
export function StoredKeys({ provider: { name, keys }, change, impact, isLocked, note, onRemove }: Props) {
  const [key, setKey] = useState('');
  const add = useChange({
    run: () => read(api.providers[':name'].keys.$post({ param: { name }, json: { key } })),
    affects: [['providers'], ['system']],
    done: 'Key stored and in use',
  });
  return (
    <section>
      <h3 className="mb-1 text-xs font-semibold text-muted">Stored keys</h3>
      {keys.length === 0 && (
        <p className="text-muted">None. If there is a key in the gateway's environment, it is used.</p>
      )}
      {note}
      <ul className="divide-y">
        {keys.map((one) => (
          <li key={one.id} className="flex items-center justify-between gap-3 py-1.5">
            <span>
              {one.name} <code className="font-mono text-xs text-muted">…{one.last_characters}</code>{' '}
              <Badge tone={TONES[one.state]}>{one.state}</Badge>
            </span>
            <ConfirmButton
              size="small"
              disabled={isLocked(one)}
              title={`Delete key …${one.last_characters}?`}
              impact={`${name} keeps ${countOf(keys.length - 1, 'other stored key')}. ${impact}`}
              confirmLabel="Delete key"
              change={change}
              onConfirm={(close) => onRemove(one.id, close)}
            >
              Delete
            </ConfirmButton>
          </li>
        ))}
      </ul>
      <Form
        className="mt-2 flex items-end gap-2"
        onSubmit={() => add.mutate(undefined, { onSuccess: () => setKey('') })}
      >
        <div className="grow">
          <TextField
            label={keys.length === 0 ? 'Add a key' : 'Add another key'}
            type="password"
            autoComplete="off"
            value={key}
            error={add.error?.message}
            onValue={setKey}
          />
        </div>
        <ChangeButton type="submit" disabled={key === ''}>
          Store key
        </ChangeButton>
      </Form>
    </section>
  );
}
