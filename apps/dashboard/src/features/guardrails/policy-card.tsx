import { useMemo } from 'react';
import { type Policy, useGuardrailStats, usePolicy } from '../../api/guardrails';
import { useMayChange } from '../../api/session';
import { useOpened } from '../../range/use-opened';
import { usePage } from '../../range/use-page';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { Plus } from '../../ui/icons';
import { Segmented } from '../../ui/segmented';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import { Managed } from '../forms/managed';
import { OfProject } from './choose-project';
import { ACTION_TONES, ACTIONS, MODE_HINTS, MODES, prepareRules, type RuleLine } from './prepare-guardrails';
import { RuleDialog } from './rule-dialog';
import { newRuleId, templateOf } from './rule-templates';
import { TemplateList } from './template-picker';
import { useSavePolicy } from './use-save-policy';
import { VersionsCard } from './versions-card';

/** A project's policy: its mode, its rules in their order, its versions. */
export function PolicyCard() {
  return <OfProject>{(projectId) => <ProjectPolicy key={projectId} projectId={projectId} />}</OfProject>;
}

/** Mode, rules and versions of a project's policy. */
export function ProjectPolicy({ projectId }: { readonly projectId: string }) {
  const policy = usePolicy(projectId);
  return (
    <Managed of={{ resource: 'guardrails', id: projectId }} at="page">
      <div className="grid gap-4">
        <Failure of={policy} />
        {policy.isPending ? (
          <div className="h-60 rounded-lg border bg-panel" aria-busy="true" />
        ) : (
          <>
            {policy.data !== undefined && <ModeCard projectId={projectId} policy={policy.data} />}
            <RulesCard projectId={projectId} query={policy} />
            <VersionsCard projectId={projectId} current={policy.data?.version} />
          </>
        )}
      </div>
    </Managed>
  );
}

const SCOPES = { request: 'Within a request', project: 'For each customer' } as const;

function ModeCard({ projectId, policy }: { readonly projectId: string; readonly policy: Policy }) {
  const save = useSavePolicy(projectId, policy);
  const mayChange = useMayChange();
  const usesNames = policy.rules.some(({ action }) => action === 'pseudonymise');
  return (
    <Card
      title={policy.version === 0 ? 'No policy yet' : `Version ${policy.version}`}
      actions={save.isPending && <span className="text-muted">Saving…</span>}
    >
      <fieldset disabled={!mayChange || save.isPending} className="flex flex-wrap items-center gap-x-6 gap-y-3">
        <div className="flex flex-wrap items-center gap-2">
          <Segmented
            label="Mode"
            options={MODES}
            value={policy.mode}
            onChange={(mode) => mode !== policy.mode && save.mutate({ mode })}
          />
          <span className="text-muted">{MODE_HINTS[policy.mode]}</span>
        </div>
        {usesNames && (
          <div className="flex flex-wrap items-center gap-2">
            <span className="text-muted">Pseudonyms stay the same</span>
            <Segmented
              label="Pseudonyms stay the same"
              options={SCOPES}
              value={policy.pseudonym_scope}
              onChange={(scope) => scope !== policy.pseudonym_scope && save.mutate({ pseudonym_scope: scope })}
            />
          </div>
        )}
      </fieldset>
      <Failure of={save} />
    </Card>
  );
}

interface RulesProps {
  readonly projectId: string;
  readonly query: ReturnType<typeof usePolicy>;
}

function RulesCard({ projectId, query }: RulesProps) {
  const { id, linkTo, open, show, close } = useOpened();
  const mayChange = useMayChange();
  const stats = useGuardrailStats({ ...usePage().query, project_id: projectId, interval: 'all', group_by: 'rule' });
  const policy = query.data;
  const lines = useMemo(() => policy && prepareRules(policy, stats.data?.buckets ?? []), [policy, stats.data]);
  const opened = lines?.find((line) => line.id === id);
  const template = templateOf(id);
  const isNew = template !== undefined && mayChange;
  return (
    <TableCard
      title="Rules"
      actions={
        <ChangeButton onClick={() => open(newRuleId())}>
          <Plus /> Add rule
        </ChangeButton>
      }
      caption="Rules"
      query={query}
      columns={COLUMNS}
      rows={lines}
      rowKey={(row) => row.id}
      linkOf={(row) => linkTo(row.id)}
      csvName="guardrail-rules"
      emptyTitle="No rules yet"
      emptyHint={<TemplateList onChoose={(chosen) => open(newRuleId(chosen))} />}
    >
      {policy !== undefined && (isNew || opened !== undefined) && (
        <RuleDialog
          key={isNew ? newRuleId() : id}
          {...{ projectId, policy }}
          line={isNew ? undefined : opened}
          template={template ?? null}
          onTemplate={(chosen) => show(newRuleId(chosen))}
          onClose={close}
        />
      )}
    </TableCard>
  );
}

const COLUMNS: readonly Column<RuleLine>[] = [
  { header: 'Rule', narrow: true, value: (row) => row.name },
  { header: 'Order', unit: 'count', wideOnly: true, value: (row) => row.place },
  { header: 'Looks for', value: (row) => row.check },
  { header: 'Detail', narrow: true, wideOnly: 'most', value: (row) => row.detail },
  { header: 'In', wideOnly: true, value: (row) => row.side },
  { header: 'Parts', wideOnly: 'most', narrow: true, value: (row) => row.parts },
  { header: 'Then', value: (row) => ACTIONS[row.action], tone: (row) => ACTION_TONES[row.action] },
  {
    header: 'Streams',
    wideOnly: 'very',
    value: (row) => (row.isHolding ? 'held to the end' : 'pass'),
    tone: (row) => (row.isHolding ? 'warn' : 'neutral'),
  },
  { header: 'If not checked', wideOnly: 'very', value: (row) => row.onError },
  { header: 'Hits in range', unit: 'count', value: (row) => row.requests },
];
