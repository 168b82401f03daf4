import { useChange } from '../../api/change';
import { api } from '../../api/client';
import type { Provider } from '../../api/routing';
import { useNow } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { ChangeButton } from '../forms/change-button';
import { type ProviderLine, prepareTargets } from './prepare-routing';
import { StoredKeys } from './stored-keys';
import { TestButton } from './test-button';

const SECOND_MS = 1000;

/** A provider's address, models and keys; keys can be written, never read. */
export function ProviderDialog({ of: provider, onClose }: DialogOf<ProviderLine>) {
  const affects = [['providers'], ['system']];
  const removeKey = useChange({
    run: (keyId: string) =>
      api.providers[':name'].keys[':key_id'].$delete({ param: { name: provider.name, key_id: keyId } }),
    affects,
    done: 'The key is deleted',
  });
  const forget = useChange({
    run: () => api.providers[':name'].$delete({ param: { name: provider.name } }),
    affects,
    done: 'What was stored of it is deleted',
  });
  return (
    <Dialog
      title={provider.name}
      description={provider.base_url ?? `A provider of the kind ${provider.kind}`}
      onClose={onClose}
    >
      <div className="grid gap-4">
        <div className="flex items-center justify-between gap-3">
          <Badge tone={provider.health.tone}>{provider.health.label}</Badge>
          {provider.is_configured && <TestButton name={provider.name} />}
        </div>
        {provider.targets.length > 0 && <Troubles targets={provider.targets} />}
        <StoredKeys provider={provider} onRemove={removeKey.mutate} />
        <Failure of={{ error: removeKey.error ?? forget.error }} />
        {provider.is_stored && (
          <div className="flex justify-end">
            <ChangeButton kind="danger" onClick={() => forget.mutate(undefined, { onSuccess: onClose })}>
              Delete what is stored
            </ChangeButton>
          </div>
        )}
      </div>
    </Dialog>
  );
}

function Troubles({ targets }: Pick<Provider, 'targets'>) {
  const lines = prepareTargets(targets, useNow(SECOND_MS));
  return (
    <section>
      <h3 className="mb-1 text-xs font-semibold text-muted">Models in trouble lately</h3>
      <ul className="divide-y">
        {lines.map(({ model, label, tone }) => (
          <li key={model} className="flex items-center justify-between gap-3 py-1.5">
            <span className="truncate">{model}</span>
            <Badge tone={tone}>
              <span className="nums">{label}</span>
            </Badge>
          </li>
        ))}
      </ul>
    </section>
  );
}
