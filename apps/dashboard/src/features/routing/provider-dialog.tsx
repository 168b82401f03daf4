import { useChange } from '../../api/change';
import { api } from '../../api/client';
import { type Provider, useAliases, useChains } from '../../api/routing';
import { countOf, formatCount } from '../../format/format-number';
import { nameRange } from '../../range/name-range';
import { type Page, useNow, usePage } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import { Badge } from '../../ui/badge';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { PlaceLink } from '../../ui/place-link';
import { ConfirmButton } from '../forms/confirm-button';
import { useManagedSet } from '../forms/managed-set';
import { describeUse, type ProviderLine, prepareTargets } from './prepare-routing';
import { ProviderForm } from './provider-form';
import { StoredKeys } from './stored-keys';

const SECOND_MS = 1000;
const DEMO = 'demo';

/** A provider's address, models and keys; keys can be written, never read. */
export function ProviderDialog({ of: provider, onClose }: DialogOf<ProviderLine>) {
  const page = usePage();
  const impact = describeUse(provider, {
    range: page.range,
    aliases: useAliases().data?.data ?? [],
    chains: useChains().data?.data ?? [],
  });
  // The demo provider answers by itself: there is no address, and no key.
  const isBuiltIn = provider.name === DEMO;
  const keys = useManagedKeys(provider);
  const { removeKey, forget } = useProviderChanges(provider.name);
  return (
    <Dialog
      title={provider.name}
      description={isBuiltIn ? undefined : `Uses the API of ${provider.kind}`}
      onClose={onClose}
    >
      <div className="grid gap-4">
        <div className="flex items-center justify-between gap-3">
          <Badge tone={provider.health.tone}>{provider.health.label}</Badge>
          {provider.requests > 0 && <Use provider={provider} page={page} />}
        </div>
        {isBuiltIn ? (
          <p className="text-muted">Built in for trying things out. It needs no base URL and no key.</p>
        ) : (
          <ProviderForm provider={provider} />
        )}
        {provider.targets.length > 0 && <Troubles targets={provider.targets} />}
        {!isBuiltIn && (
          <StoredKeys
            {...keys}
            provider={provider}
            impact={impact}
            change={removeKey}
            onRemove={(keyId, close) => removeKey.mutate(keyId, { onSuccess: close })}
          />
        )}
        {provider.is_stored && (
          <div className="flex justify-end">
            <ConfirmButton
              disabled={keys.free.length < provider.keys.length}
              title={`Delete the stored settings of ${provider.name}?`}
              impact={`This deletes its base URL, ${countOf(provider.keys.length, 'stored key')} and the prices of its own models. ${impact}`}
              confirmLabel="Delete provider"
              change={forget}
              onConfirm={() => forget.mutate(undefined, { onSuccess: onClose })}
            >
              Delete stored settings
            </ConfirmButton>
          </div>
        )}
      </div>
    </Dialog>
  );
}

/** Of the range, as the list has it. */
const Use = ({ provider: { name, requests, failed }, page }: UseProps) => (
  <span className="text-muted">
    {nameRange(page)}:{' '}
    <PlaceLink {...requestsLink({ sent_to: name, ...OF_RANGE })} className="text-accent underline">
      {formatCount(requests)} sent
    </PlaceLink>
    ,{' '}
    <PlaceLink {...requestsLink({ failed_at: name, ...OF_RANGE })} className="text-accent underline">
      {formatCount(failed)} failed there
    </PlaceLink>
  </span>
);
const OF_RANGE = { open: undefined, project: undefined };

interface UseProps {
  readonly provider: ProviderLine;
  readonly page: Page;
}

/** Keys have names of their own in the audit, and a file may manage them without their provider. */
function useManagedKeys({ name, keys }: Pick<Provider, 'name' | 'keys'>) {
  type Key = Provider['keys'][number];
  const nameOf = (key: Key) => key.name;
  return useManagedSet({
    ...{ resource: 'provider_key', noun: 'stored key', of: keys, nameOf },
    idOf: (key: Key) => `${name}/${key.id}`,
  });
}

function useProviderChanges(name: string) {
  const affects = [['providers'], ['system']];
  const removeKey = useChange({
    run: (keyId: string) => api.providers[':name'].keys[':key_id'].$delete({ param: { name, key_id: keyId } }),
    affects,
    done: 'Key deleted',
  });
  const forget = useChange({
    run: () => api.providers[':name'].$delete({ param: { name } }),
    affects,
    done: 'Stored settings deleted',
  });
  return { removeKey, forget };
}

function Troubles({ targets }: Pick<Provider, 'targets'>) {
  const lines = prepareTargets(targets, useNow(SECOND_MS));
  return (
    <section>
      <h3 className="mb-1 text-xs font-semibold text-muted">Models with recent problems</h3>
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
