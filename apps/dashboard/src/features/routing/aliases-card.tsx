import { useChange } from '../../api/change';
import { api, read, readOrNull } from '../../api/client';
import { useModels } from '../../api/models';
import { useProjectNames, useProjectOptions } from '../../api/projects';
import { type Alias, type AliasInput, useAliases, useProviderNames } from '../../api/routing';
import { saveChanges } from '../../api/save-changes';
import { useOpened } from '../../range/use-opened';
import { requestsLink } from '../../range/use-show-requests';
import { Badge } from '../../ui/badge';
import type { DialogOf } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import { ChangeButton } from '../forms/change-button';
import { ConfirmButton } from '../forms/confirm-button';
import type { FieldSpec } from '../forms/prepare-form';
import { type Edit, SpecDialog } from '../forms/spec-form';
import { useRecentlyAsked } from '../forms/use-impact';
import { notesOf, prepareAliasRoute } from './prepare-route';
import { keepTimeouts, readRows, showWeighted, type WeightedTarget } from './prepare-targets';
import { RoutePicture, useIsPriced, useIsSetUp } from './route-picture';
import { type RouteLine, RoutesCard } from './routes-card';
import { TargetsField } from './targets-field';

const STRATEGIES = {
  priority: 'in this order',
  weighted: 'by share',
  least_latency: 'fastest first',
  cheapest: 'cheapest first',
} as const;

/** Custom model names and their targets. */
export function AliasesCard() {
  const aliases = useAliases();
  const projectName = useProjectNames();
  const { open } = useOpened();
  const toLine = (alias: Alias): RouteLine<Alias> => ({
    key: alias.id,
    name: alias.alias,
    badges: (
      <>
        {alias.targets.length > 1 && <Badge>{STRATEGIES[alias.strategy]}</Badge>}
        {alias.project_id !== null && <Badge>{projectName(alias.project_id)}</Badge>}
      </>
    ),
    showWeights: alias.strategy === 'weighted',
    requests: requestsLink({
      requested_model: alias.alias,
      ...(alias.project_id !== null && { project: alias.project_id }),
    }),
    route: alias,
  });
  return (
    <RoutesCard
      title="Aliases"
      what="alias"
      read={(id) => readOrNull(api.aliases[':id'].$get({ param: { id } }))}
      newLabel="New alias"
      query={aliases}
      lines={aliases.data?.data.map(toLine)}
      nameWidth="w-72"
      dialog={AliasDialog}
    >
      {aliases.data?.data.length === 0 && (
        <EmptyState title="No aliases yet">
          Give one or more models a name such as "smart", and change them here without touching your applications.
          <span className="mt-3 block">
            <ChangeButton kind="primary" onClick={() => open('new')}>
              Make the first alias
            </ChangeButton>
          </span>
        </EmptyState>
      )}
    </RoutesCard>
  );
}

const NAME: FieldSpec = { name: 'alias', label: 'Alias', kind: 'text', required: true, placeholder: 'smart' };
const STRATEGY: FieldSpec = { name: 'strategy', label: 'Order of targets', kind: 'text', options: STRATEGIES };

const AFFINITY: FieldSpec = {
  ...{ name: 'session_affinity', label: 'Keep conversations with one target', kind: 'flag', isWide: true },
  hint: "Prefers the target that has the conversation's prompt cached",
};

const FAILOVER: FieldSpec = {
  ...{ name: 'failover', label: 'When all targets fail', kind: 'text' },
  options: { '': 'return the error', on: 'ask the preset chain too', off: 'ask one target only' },
};
const RETRY_TIMEOUTS: FieldSpec = {
  ...{ name: 'retry_timeouts', label: 'Retry time-outs with the next target', kind: 'flag', isWide: true },
  hint: 'An answer that is not a stream and timed out may be billed twice',
};

const showTargets = (targets: unknown) =>
  typeof targets === 'string' ? targets : showWeighted(targets as readonly WeightedTarget[]);
const toFields = (alias: Alias) => ({ ...alias, targets: showWeighted(alias.targets) });

function AliasDialog({ of: alias, onClose }: DialogOf<Alias | null>) {
  const projects = { '': 'every project', ...Object.fromEntries(useProjectOptions()) };
  const project: FieldSpec = { name: 'project_id', label: 'Project', kind: 'text', options: projects };
  const providers = useProviderNames();
  const context = { isSetUp: useIsSetUp(), isPriced: useIsPriced() };
  const targets = (strategy: unknown): FieldSpec => ({
    ...{ name: 'targets', label: 'Targets', kind: 'text', required: true, widget: TargetsField, isWide: true },
    read: (text) => keepTimeouts(readRows(text, providers, strategy === 'weighted'), alias?.targets ?? []),
    show: showTargets,
  });
  const hides = useHidden();
  const recent = useRecentlyAsked(
    alias === null ? undefined : { name: alias.alias, projectId: alias.project_id, since: alias.created_at },
  );
  const { save, remove } = useAliasChanges(alias);
  const namesakes = useAliases().data?.data.filter((one) => one.alias === alias?.alias && one.id !== alias.id) ?? [];
  const next = describeNext(alias, namesakes, hides(alias?.alias) !== null);
  return (
    <SpecDialog
      title={alias === null ? 'New alias' : `Alias ${alias.alias}`}
      description="A model name of your own that clients can request."
      onClose={onClose}
      specs={({ strategy }) =>
        alias === null
          ? [{ ...NAME, understood: hides }, project, STRATEGY, targets(strategy), AFFINITY, FAILOVER, RETRY_TIMEOUTS]
          : [STRATEGY, targets(strategy), AFFINITY, FAILOVER, RETRY_TIMEOUTS]
      }
      beside={(values) => <RoutePicture route={prepareAliasRoute(values, context)} notes={notesOf(values)} />}
      resource={alias === null ? { strategy: 'priority', session_affinity: true } : toFields(alias)}
      submitLabel={alias === null ? 'Create alias' : 'Save alias'}
      change={save}
      onSubmit={(body, edit) => save.mutate({ json: body as unknown as AliasInput, edit }, { onSuccess: onClose })}
    >
      {alias !== null && (
        <ConfirmButton
          title={`Delete alias ${alias.alias}?`}
          impact={`${recent} used ${namesakes.length > 0 ? 'this name' : 'it'}. ${next}`}
          confirmLabel="Delete alias"
          change={remove}
          onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
        >
          Delete
        </ConfirmButton>
      )}
    </SpecDialog>
  );
}

/** What becomes of requests for the name of a deleted alias. */
function describeNext(alias: Alias | null, namesakes: readonly Alias[], isModel: boolean): string {
  const isOwn = alias !== null && alias.project_id !== null;
  if (isOwn && namesakes.some(({ project_id: id }) => id === null))
    return 'Further requests of its project for this name go to the alias of every project.';
  const of = !isOwn && namesakes.length > 0 ? ' of projects without an alias of their own' : '';
  return isModel
    ? `Further requests${of} for this name go to the model that has it.`
    : `Further requests${of} for this name are refused.`;
}

/** Says that an alias takes the name of a model; null where no model has it. */
function useHidden(): (name: unknown) => string | null {
  const { data: models } = useModels();
  return (name) =>
    models?.some(({ provider, model }) => name === model || name === `${provider}/${model}`)
      ? 'the name of a model. Its requests will go to these targets instead.'
      : null;
}

function useAliasChanges(alias: Alias | null) {
  const param = { id: alias?.id ?? '' };
  const affects = [['aliases']];
  const save = useChange({
    run: ({ json, edit }: { readonly json: AliasInput; readonly edit: Edit }) =>
      alias === null
        ? read(api.aliases.$post({ json }))
        : saveChanges({
            ...edit,
            read: () => api.aliases[':id'].$get({ param }),
            asFields: toFields,
            write: (options) =>
              api.aliases[':id'].$patch({ param, json: edit.changes as Partial<AliasInput> }, options),
          }),
    affects,
    done: 'Alias saved',
  });
  const remove = useChange({
    run: () => api.aliases[':id'].$delete({ param }),
    affects,
    done: 'Alias deleted',
  });
  return { save, remove };
}
