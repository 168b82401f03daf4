import { useChange } from '../../api/change';
import { ApiError, api, read, readOrNull } from '../../api/client';
import { type Chain, type ChainInput, useChains, useProviderNames } from '../../api/routing';
import { saveChanges } from '../../api/save-changes';
import { countOf } from '../../format/format-number';
import { Badge } from '../../ui/badge';
import type { DialogOf } from '../../ui/dialog';
import { ConfirmButton } from '../forms/confirm-button';
import type { FieldSpec } from '../forms/prepare-form';
import { type Edit, SpecDialog } from '../forms/spec-form';
import { prepareChainRoute } from './prepare-route';
import { pathOf, toChain } from './prepare-routing';
import { readRows, showWeighted, type WeightedTarget } from './prepare-targets';
import { RoutePicture, useIsPriced, useIsSetUp } from './route-picture';
import { type RouteLine, RoutesCard } from './routes-card';
import { TargetsField } from './targets-field';

/** Fallbacks of models, by chain. */
export function ChainsCard() {
  const chains = useChains();
  return (
    <RoutesCard
      title="Fallback chains"
      what="chain"
      read={(name) => readOrNull(api.chains[':name'].$get({ param: { name: encodeURIComponent(name) } }))}
      newLabel="New chain"
      query={chains}
      lines={chains.data?.data.map(toLine)}
      nameWidth="w-40"
      dialog={ChainDialog}
    >
      <p className="mb-3 text-muted">
        When a model answers with 429 or 5xx, refuses the key, times out or cannot be reached, the next one in its chain
        is tried.
      </p>
    </RoutesCard>
  );
}

const toLine = (chain: Chain): RouteLine<Chain> => ({
  key: chain.name,
  name: chain.name,
  badges: chain.edited && <Badge tone="accent">edited</Badge>,
  route: chain,
});

const NAME: FieldSpec = { name: 'name', label: 'Name', kind: 'text', required: true };
const showTargets = (targets: unknown) =>
  typeof targets === 'string' ? targets : showWeighted(targets as readonly WeightedTarget[]);
const TARGETS: FieldSpec = {
  ...{ name: 'targets', label: 'Targets, in order', kind: 'text', required: true },
  ...{ widget: TargetsField, isWide: true, show: showTargets },
};
const toFields = (chain: Chain) => ({ targets: showWeighted(chain.targets.map(pathOf)) });

/** Creates a chain unless the name exists: PUT would overwrite it silently. */
async function createChain(param: { name: string }, json: ChainInput) {
  const there = await readOrNull(api.chains[':name'].$get({ param }));
  if (there !== null)
    throw new ApiError('name: A chain with this name already exists. Edit it instead.', 409, 'conflict', 'name');
  return read(api.chains[':name'].$put({ param, json }));
}

function ChainDialog({ of: chain, onClose }: DialogOf<Chain | null>) {
  const affects = [['chains']];
  const providers = useProviderNames();
  const context = { isSetUp: useIsSetUp(), isPriced: useIsPriced(), localTier: chain?.local_tier };
  const targets: FieldSpec = { ...TARGETS, read: (text) => readRows(text, providers, false) };
  const save = useChange({
    run: ({ body, edit }: { readonly body: Record<string, unknown>; readonly edit: Edit }) => {
      const given = body.targets as readonly WeightedTarget[];
      const param = { name: encodeURIComponent(chain?.name ?? String(body.name)) };
      if (chain === null) return createChain(param, toChain(given, null));
      // Its targets are all that the form has: without a change of theirs there is nothing to save.
      if (!('targets' in edit.changes)) return Promise.resolve(chain);
      return saveChanges({
        ...edit,
        read: () => api.chains[':name'].$get({ param }),
        asFields: toFields,
        write: (options, current) => api.chains[':name'].$put({ param, json: toChain(given, current) }, options),
      });
    },
    affects,
    done: 'Chain saved',
  });
  const remove = useChange({
    run: (name: string) => api.chains[':name'].$delete({ param: { name: encodeURIComponent(name) } }),
    affects,
    done: chain?.is_preset ? 'Chain reset to default' : 'Chain deleted',
  });
  return (
    <SpecDialog
      title={chain === null ? 'New chain' : `Chain ${chain.name}`}
      description="Targets in the order they are tried."
      onClose={onClose}
      specs={chain === null ? [NAME, targets] : [targets]}
      beside={(values) => <RoutePicture route={prepareChainRoute(values, context)} />}
      resource={chain && toFields(chain)}
      submitLabel={chain === null ? 'Create chain' : 'Save chain'}
      change={save}
      onSubmit={(body, edit) => save.mutate({ body, edit }, { onSuccess: onClose })}
    >
      {chain?.edited && (
        <ConfirmButton
          title={chain.is_preset ? `Reset chain ${chain.name}?` : `Delete chain ${chain.name}?`}
          impact={
            chain.is_preset
              ? 'The default targets apply from the next request. Your targets are lost.'
              : `From the next request on, there is no fallback when one of its ${countOf(chain.targets.length, 'model')} fails.`
          }
          confirmLabel={chain.is_preset ? 'Reset chain' : 'Delete chain'}
          change={remove}
          onConfirm={() => remove.mutate(chain.name, { onSuccess: onClose })}
        >
          {chain.is_preset ? 'Reset to default' : 'Delete'}
        </ConfirmButton>
      )}
    </SpecDialog>
  );
}
