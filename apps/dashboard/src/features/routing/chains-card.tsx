import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type Chain, type ChainInput, useChains } from '../../api/routing';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import type { DialogOf } from '../../ui/dialog';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { pathOf, showTargets, TARGETS_FIELD, type TypedTarget, toChain } from './prepare-routing';
import { type RouteLine, RoutesCard } from './routes-card';

/** What stands in when a model cannot answer, chain by chain. */
export function ChainsCard() {
  const chains = useChains();
  return (
    <RoutesCard
      title="Fallback chains"
      newLabel="New chain"
      query={chains}
      lines={chains.data?.data.map(toLine)}
      nameWidth="w-40"
      dialog={ChainDialog}
    >
      <p className="mb-3 text-muted">
        A model that fails with 429, 5xx, a refused key, a time-out or no connection is followed by the next of its
        chain.
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

function ChainDialog({ of: chain, onClose }: DialogOf<Chain | null>) {
  const affects = [['chains']];
  const save = useChange({
    run: ({ name, json }: { name: string; json: ChainInput }) =>
      read(api.chains[':name'].$put({ param: { name }, json })),
    affects,
    done: 'The chain is live',
  });
  const remove = useChange({
    run: (name: string) => api.chains[':name'].$delete({ param: { name } }),
    affects,
    done: 'Done',
  });
  return (
    <SpecDialog
      title={chain === null ? 'New chain' : `Chain ${chain.name}`}
      description="Targets in the order they are tried."
      onClose={onClose}
      specs={chain === null ? [NAME, TARGETS_FIELD] : [TARGETS_FIELD]}
      resource={chain && { targets: showTargets(chain.targets.map(pathOf)) }}
      submitLabel="Save"
      change={save}
      otherError={remove.error}
      onSubmit={({ name, targets }) =>
        save.mutate(
          { name: chain?.name ?? String(name), json: toChain(targets as TypedTarget[], chain) },
          { onSuccess: onClose },
        )
      }
    >
      {chain?.edited && (
        <Button kind="danger" onClick={() => remove.mutate(chain.name, { onSuccess: onClose })}>
          {chain.is_preset ? 'As shipped again' : 'Delete'}
        </Button>
      )}
    </SpecDialog>
  );
}
