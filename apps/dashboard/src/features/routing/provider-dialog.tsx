import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useMayChange } from '../../api/session';
import { useNow } from '../../range/use-page';
import { Badge, type Tone } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Dialog } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { TextField } from '../../ui/field';
import { type ProviderLine, prepareTargets } from './prepare-routing';
import { TestButton } from './providers-card';

const KEY_TONES: Readonly<Record<string, Tone>> = {
  ok: 'good',
  resting: 'warn',
  refused: 'bad',
  unreadable: 'bad',
  inactive: 'neutral',
};

const SECOND_MS = 1000;

interface Props {
  readonly provider: ProviderLine;
  readonly onClose: () => void;
}

/** A provider's address, models and keys; keys can be written, never read. */
export function ProviderDialog({ provider, onClose }: Props) {
  const mayChange = useMayChange();
  const [key, setKey] = useState('');
  const targets = prepareTargets(provider.targets, useNow(SECOND_MS));
  const param = { name: provider.name };
  const affects = [['providers'], ['system']];
  const add = useChange({
    run: (secret: string) => read(api.providers[':name'].keys.$post({ param, json: { key: secret } })),
    affects,
    done: 'The key is stored, and in use',
  });
  const remove = useChange({
    run: (keyId: string) => api.providers[':name'].keys[':key_id'].$delete({ param: { ...param, key_id: keyId } }),
    affects,
    done: 'The key is deleted',
  });
  const forget = useChange({
    run: () => api.providers[':name'].$delete({ param }),
    affects,
    done: 'What was stored of it is deleted',
  });
  return (
    <Dialog
      title={provider.name}
      description={provider.base_url ?? `A provider of the kind ${provider.kind}`}
      open
      onClose={onClose}
    >
      <div className="grid gap-4">
        <div className="flex items-center justify-between gap-3">
          <Badge tone={provider.health.tone}>{provider.health.label}</Badge>
          {provider.is_configured && <TestButton name={provider.name} />}
        </div>
        {targets.length > 0 && (
          <section>
            <h3 className="mb-1 text-xs font-semibold text-muted">Models in trouble lately</h3>
            <ul className="divide-y">
              {targets.map(({ model, label, tone }) => (
                <li key={model} className="flex items-center justify-between gap-3 py-1.5">
                  <span className="truncate">{model}</span>
                  <Badge tone={tone}>
                    <span className="nums">{label}</span>
                  </Badge>
                </li>
              ))}
            </ul>
          </section>
        )}
        <section>
          <h3 className="mb-1 text-xs font-semibold text-muted">Stored keys</h3>
          {provider.keys.length === 0 && (
            <EmptyState title="None">A key from the gateway's environment is used, where there is one.</EmptyState>
          )}
          <ul className="divide-y">
            {provider.keys.map((one) => (
              <li key={one.id} className="flex items-center justify-between gap-3 py-1.5">
                <span>
                  {one.name} <code className="font-mono text-xs text-muted">…{one.last_characters}</code>{' '}
                  <Badge tone={KEY_TONES[one.state]}>{one.state}</Badge>
                </span>
                <Button size="small" kind="danger" disabled={!mayChange} onClick={() => remove.mutate(one.id)}>
                  Delete
                </Button>
              </li>
            ))}
          </ul>
          <form
            className="mt-2 flex items-end gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              add.mutate(key, { onSuccess: () => setKey('') });
            }}
          >
            <div className="grow">
              <TextField
                label="Another key"
                type="password"
                autoComplete="off"
                value={key}
                error={add.error?.message}
                onChange={(event) => setKey(event.target.value)}
              />
            </div>
            <Button type="submit" disabled={!mayChange || key === ''}>
              Store
            </Button>
          </form>
        </section>
        {(remove.error ?? forget.error) && <ErrorState error={(remove.error ?? forget.error) as Error} />}
        {provider.is_stored && (
          <div className="flex justify-end">
            <Button
              kind="danger"
              disabled={!mayChange}
              onClick={() => forget.mutate(undefined, { onSuccess: onClose })}
            >
              Delete what is stored
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  );
}
