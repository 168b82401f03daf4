import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type Chain, type ChainInput, useChains } from '../../api/routing';
import { useMayChange } from '../../api/session';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { Dialog } from '../../ui/dialog';
import { ErrorState } from '../../ui/error-state';
import { readTargets } from './prepare-routing';
import { TargetFlow } from './target-flow';
import { TargetsForm } from './targets-form';

/** What stands in when a model cannot answer, chain by chain. */
export function ChainsCard() {
  const chains = useChains();
  const mayChange = useMayChange();
  const [editing, setEditing] = useState<Chain | 'new' | null>(null);
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
  const edited = editing === 'new' || editing === null ? null : editing;
  return (
    <Card
      title="Fallback chains"
      actions={
        <Button disabled={!mayChange} onClick={() => setEditing('new')}>
          New chain
        </Button>
      }
    >
      {chains.error && <ErrorState error={chains.error} onRetry={() => void chains.refetch()} />}
      <p className="mb-3 text-muted">
        A model that fails with 429, 5xx, a refused key, a time-out or no connection is followed by the next of its
        chain.
      </p>
      <ul className="divide-y">
        {chains.data?.data.map((chain) => (
          <li key={chain.name} className="flex flex-wrap items-center gap-x-4 gap-y-1.5 py-2">
            <span className="flex w-40 shrink-0 items-center gap-2">
              <span className="truncate font-medium">{chain.name}</span>
              {chain.edited && <Badge tone="accent">edited</Badge>}
            </span>
            <div className="min-w-0 grow basis-80">
              <TargetFlow targets={chain.targets} />
            </div>
            <Button size="small" kind="ghost" disabled={!mayChange} onClick={() => setEditing(chain)}>
              Edit
            </Button>
          </li>
        ))}
      </ul>
      <Dialog
        title={edited === null ? 'New chain' : `Chain ${edited.name}`}
        description="Targets in the order they are tried."
        open={editing !== null}
        onClose={() => setEditing(null)}
      >
        <TargetsForm
          name={edited?.name ?? null}
          nameLabel="Name"
          targets={edited?.targets.map(({ provider, model }) => `${provider}/${model}`).join('\n') ?? ''}
          error={save.error ?? remove.error}
          isPending={save.isPending}
          onSubmit={({ name, targets }) => {
            const known = new Map(
              edited?.targets.map((target) => [`${target.provider}/${target.model}`, target.matches]),
            );
            const json: ChainInput = {
              targets: readTargets(targets).map((target) => {
                const matches = known.get(`${target.provider}/${target.model}`);
                return matches === undefined ? target : { ...target, matches };
              }),
              local_tier: edited?.local_tier ?? null,
              hedge_after_ms: edited?.hedge_after_ms ?? null,
            };
            save.mutate({ name, json }, { onSuccess: () => setEditing(null) });
          }}
        >
          {edited?.edited && (
            <Button kind="danger" onClick={() => remove.mutate(edited.name, { onSuccess: () => setEditing(null) })}>
              {edited.is_preset ? 'As shipped again' : 'Delete'}
            </Button>
          )}
        </TargetsForm>
      </Dialog>
    </Card>
  );
}
