import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useProjectNames, useProjectOptions } from '../../api/projects';
import { type Alias, type AliasInput, useAliases } from '../../api/routing';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import type { DialogOf } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { showTargets, TARGETS_FIELD } from './prepare-routing';
import { type RouteLine, RoutesCard } from './routes-card';

const STRATEGIES = {
  priority: 'in this order',
  weighted: 'by weight',
  least_latency: 'fastest first',
  cheapest: 'cheapest first',
} as const;

/** Model names of one's own, and what stands behind them. */
export function AliasesCard() {
  const aliases = useAliases();
  const projectName = useProjectNames();
  const toLine = (alias: Alias): RouteLine<Alias> => ({
    key: alias.id,
    name: alias.alias,
    badges: (
      <>
        <Badge>{STRATEGIES[alias.strategy]}</Badge>
        {alias.project_id !== null && <Badge>{projectName(alias.project_id)}</Badge>}
      </>
    ),
    showWeights: alias.strategy === 'weighted',
    route: alias,
  });
  return (
    <RoutesCard
      title="Aliases"
      newLabel="New alias"
      query={aliases}
      lines={aliases.data?.data.map(toLine)}
      nameWidth="w-56"
      dialog={AliasDialog}
    >
      {aliases.data?.data.length === 0 && (
        <EmptyState title="No aliases yet">
          Give a name such as "smart" to one model or several, and change them here without touching your applications.
        </EmptyState>
      )}
    </RoutesCard>
  );
}

const NAME: FieldSpec = { name: 'alias', label: 'Alias', kind: 'text', required: true };
const TARGETS: FieldSpec = {
  ...TARGETS_FIELD,
  hint: 'One provider/model a line, first choice first; ×3 behind it is its weight (1 unless given)',
};
const STRATEGY: FieldSpec = { name: 'strategy', label: 'Tried', kind: 'text', options: STRATEGIES };

function AliasDialog({ of: alias, onClose }: DialogOf<Alias | null>) {
  const projects = { '': 'every project', ...Object.fromEntries(useProjectOptions()) };
  const project: FieldSpec = { name: 'project_id', label: 'For', kind: 'text', options: projects };
  const { save, remove } = useAliasChanges(alias);
  return (
    <SpecDialog
      title={alias === null ? 'New alias' : `Alias ${alias.alias}`}
      description="Clients send the alias as the model's name."
      onClose={onClose}
      specs={alias === null ? [NAME, TARGETS, STRATEGY, project] : [TARGETS, STRATEGY]}
      resource={alias === null ? { strategy: 'priority' } : { ...alias, targets: showTargets(alias.targets) }}
      submitLabel="Save"
      change={save}
      otherError={remove.error}
      onSubmit={(body) => save.mutate(body as unknown as AliasInput, { onSuccess: onClose })}
    >
      {alias !== null && (
        <Button kind="danger" onClick={() => remove.mutate(undefined, { onSuccess: onClose })}>
          Delete
        </Button>
      )}
    </SpecDialog>
  );
}

function useAliasChanges(alias: Alias | null) {
  const param = { id: alias?.id ?? '' };
  const affects = [['aliases']];
  const save = useChange({
    run: (json: AliasInput) =>
      read(alias === null ? api.aliases.$post({ json }) : api.aliases[':id'].$patch({ param, json })),
    affects,
    done: 'The alias is live',
  });
  const remove = useChange({
    run: () => api.aliases[':id'].$delete({ param }),
    affects,
    done: 'The alias is deleted',
  });
  return { save, remove };
}
