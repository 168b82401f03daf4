import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useProjectNames, useProjects } from '../../api/projects';
import { type Alias, type AliasInput, useAliases } from '../../api/routing';
import { useMayChange } from '../../api/session';
import { Badge } from '../../ui/badge';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { Dialog } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { SelectField } from '../../ui/field';
import { readTargets, showTypedTarget } from './prepare-routing';
import { TargetFlow } from './target-flow';
import { TargetsForm } from './targets-form';

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
  const mayChange = useMayChange();
  const projectName = useProjectNames();
  const [editing, setEditing] = useState<Alias | 'new' | null>(null);
  return (
    <Card
      title="Aliases"
      actions={
        <Button disabled={!mayChange} onClick={() => setEditing('new')}>
          New alias
        </Button>
      }
    >
      {aliases.error && <ErrorState error={aliases.error} onRetry={() => void aliases.refetch()} />}
      {aliases.data?.data.length === 0 && (
        <EmptyState title="No aliases yet">
          Give a name such as "smart" to one model or several, and change them here without touching your applications.
        </EmptyState>
      )}
      <ul className="divide-y">
        {aliases.data?.data.map((alias) => (
          <li key={alias.id} className="flex flex-wrap items-center gap-x-4 gap-y-1.5 py-2">
            <span className="flex w-56 shrink-0 items-center gap-2">
              <span className="truncate font-medium">{alias.alias}</span>
              <Badge>{STRATEGIES[alias.strategy]}</Badge>
              {alias.project_id !== null && <Badge>{projectName(alias.project_id)}</Badge>}
            </span>
            <div className="min-w-0 grow basis-80">
              <TargetFlow targets={alias.targets} showWeights={alias.strategy === 'weighted'} />
            </div>
            <Button size="small" kind="ghost" disabled={!mayChange} onClick={() => setEditing(alias)}>
              Edit
            </Button>
          </li>
        ))}
      </ul>
      {editing !== null && <AliasDialog alias={editing === 'new' ? null : editing} onClose={() => setEditing(null)} />}
    </Card>
  );
}

function AliasDialog({ alias, onClose }: { readonly alias: Alias | null; readonly onClose: () => void }) {
  const projects = useProjects();
  const [strategy, setStrategy] = useState<Strategy>(alias?.strategy ?? 'priority');
  const [project, setProject] = useState('');
  const affects = [['aliases']];
  const save = useChange({
    run: ({ name, targets }: { name: string; targets: string }) => {
      const json = {
        strategy,
        targets: readTargets(targets),
      };
      if (alias !== null) return read(api.aliases[':id'].$patch({ param: { id: alias.id }, json }));
      const created: AliasInput = { ...json, alias: name, project_id: project === '' ? null : project };
      return read(api.aliases.$post({ json: created }));
    },
    affects,
    done: 'The alias is live',
  });
  const remove = useChange({
    run: () => api.aliases[':id'].$delete({ param: { id: alias?.id ?? '' } }),
    affects,
    done: 'The alias is deleted',
  });
  return (
    <Dialog
      title={alias === null ? 'New alias' : `Alias ${alias.alias}`}
      description="Clients send the alias as the model's name."
      open
      onClose={onClose}
    >
      <TargetsForm
        name={alias?.alias ?? null}
        nameLabel="Alias"
        hint="One provider/model a line, first choice first; ×3 behind it is its weight (1 unless given)"
        targets={alias?.targets.map(showTypedTarget).join('\n') ?? ''}
        error={save.error ?? remove.error}
        isPending={save.isPending}
        onSubmit={(values) => save.mutate(values, { onSuccess: onClose })}
        fields={
          <>
            <SelectField
              label="Tried"
              value={strategy}
              onChange={(event) => setStrategy(event.target.value as Strategy)}
            >
              {(Object.keys(STRATEGIES) as Strategy[]).map((value) => (
                <option key={value} value={value}>
                  {STRATEGIES[value]}
                </option>
              ))}
            </SelectField>
            {alias === null && (
              <SelectField label="For" value={project} onChange={(event) => setProject(event.target.value)}>
                <option value="">every project</option>
                {projects.data?.data.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </SelectField>
            )}
          </>
        }
      >
        {alias !== null && (
          <Button kind="danger" onClick={() => remove.mutate(undefined, { onSuccess: onClose })}>
            Delete
          </Button>
        )}
      </TargetsForm>
    </Dialog>
  );
}
