import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useProjectNames, useProjectOptions } from '../../api/projects';
import { type Alias, type AliasInput, useAliases } from '../../api/routing';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import type { DialogOf } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import { SelectField } from '../../ui/form';
import { showTypedTarget } from './prepare-routing';
import { type RouteLine, RoutesCard } from './routes-card';
import { TargetsDialog } from './targets-dialog';

const STRATEGIES = {
  priority: 'in this order',
  weighted: 'by weight',
  least_latency: 'fastest first',
  cheapest: 'cheapest first',
} as const;
type Strategy = keyof typeof STRATEGIES;

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

function AliasDialog({ of: alias, onClose }: DialogOf<Alias | null>) {
  const projects = useProjectOptions();
  const [strategy, setStrategy] = useState<Strategy>(alias?.strategy ?? 'priority');
  const [project, setProject] = useState('');
  const { save, remove } = useAliasChanges(alias);
  return (
    <TargetsDialog
      title={alias === null ? 'New alias' : `Alias ${alias.alias}`}
      description="Clients send the alias as the model's name."
      name={alias?.alias ?? null}
      nameLabel="Alias"
      hint="One provider/model a line, first choice first; ×3 behind it is its weight (1 unless given)"
      targets={alias?.targets.map(showTypedTarget).join('\n') ?? ''}
      error={save.error ?? remove.error}
      isPending={save.isPending}
      onSubmit={(name, targets) =>
        save.mutate(
          { strategy, targets, alias: name, project_id: project === '' ? null : project },
          { onSuccess: onClose },
        )
      }
      onClose={onClose}
      fields={
        <>
          <SelectField
            label="Tried"
            options={STRATEGIES}
            value={strategy}
            onValue={(value) => setStrategy(value as Strategy)}
          />
          {alias === null && (
            <SelectField label="For" anyLabel="every project" options={projects} value={project} onValue={setProject} />
          )}
        </>
      }
    >
      {alias !== null && (
        <Button kind="danger" onClick={() => remove.mutate(undefined, { onSuccess: onClose })}>
          Delete
        </Button>
      )}
    </TargetsDialog>
  );
}

function useAliasChanges(alias: Alias | null) {
  const param = { id: alias?.id ?? '' };
  const affects = [['aliases']];
  const save = useChange({
    run: ({ strategy, targets, ...made }: AliasInput) =>
      alias === null
        ? read(api.aliases.$post({ json: { strategy, targets, ...made } }))
        : read(api.aliases[':id'].$patch({ param, json: { strategy, targets } })),
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
