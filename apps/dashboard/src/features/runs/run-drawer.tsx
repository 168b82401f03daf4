import { useState } from 'react';
import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useProjectNames } from '../../api/projects';
import { Needed } from '../../api/session';
import { countOf } from '../../format/format-number';
import { formatInstant } from '../../format/format-time';
import { formatUsd, formatUsdExact } from '../../format/format-usd';
import { rangeQuery } from '../../range/time-range';
import { usePage } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import { Badge } from '../../ui/badge';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Meter } from '../../ui/meter';
import { PlaceLink } from '../../ui/place-link';
import { ChangeButton } from '../forms/change-button';
import { ConfirmButton } from '../forms/confirm-button';
import type { FieldSpec } from '../forms/prepare-form';
import { SpecDialog } from '../forms/spec-form';
import { stateOfRun } from './prepare-run';
import { RunTree } from './run-tree';
import { type RunDetail, useRun } from './use-runs';

type Which = Pick<RunDetail, 'id' | 'project_id'>;

/** A run: what it may spend and spent, its requests and tool calls, and its end. */
export function RunDrawer({ of, onClose }: DialogOf<Which>) {
  const run = useRun(of.id, of.project_id).data;
  const projectName = useProjectNames();
  return (
    <Dialog kind="drawer" title={`Run ${of.id}`} description={projectName(of.project_id)} onClose={onClose}>
      <div className="grid gap-5 *:min-w-0">
        {run !== undefined && <Summary run={run} />}
        <RunTree id={of.id} projectId={of.project_id} />
      </div>
    </Dialog>
  );
}

function Summary({ run }: { readonly run: RunDetail }) {
  const { timeZone } = usePage();
  const { budget_usd: budget, spent_usd: spent, started_at: begin, last_active_at: last, ended_at: end } = run;
  const { label, tone } = stateOfRun(run, Date.now());
  return (
    <section className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={tone}>{label}</Badge>
        <span className="nums">
          {formatUsd(spent)} {budget === null ? 'spent, no budget' : `of ${formatUsdExact(budget)}`}
        </span>
        {budget !== null && run.state !== 'stopped' && run.may_change && <Controls run={run} budget={budget} />}
      </div>
      {budget !== null && <Meter share={budget === 0 ? 1 : spent / budget} label="Budget used" />}
      <p className="text-xs text-muted">
        <Requests of={run} /> and {countOf(run.tool_calls, 'tool call')}
        {begin !== null && `, begun ${formatInstant(begin, timeZone)}`}
        {last !== null && `, last active ${formatInstant(last, timeZone)}`}
        {end !== null && `, stopped ${formatInstant(end, timeZone)}`}
      </p>
    </section>
  );
}

const MINUTE_MS = 60_000;

/** Opens them in the log. */
function Requests({
  of: { id, project_id: project, requests, started_at: begin, last_active_at: last },
}: {
  readonly of: RunDetail;
}) {
  const text = countOf(requests, 'request');
  if (begin === null || last === null) return text;
  const stretch = rangeQuery({ fromMs: Date.parse(begin) - MINUTE_MS, toMs: Date.parse(last) + MINUTE_MS });
  return (
    <PlaceLink
      {...requestsLink({ ...stretch, project, run_id: id, open: undefined })}
      className="touch-line text-accent hover:underline"
    >
      {text}
    </PlaceLink>
  );
}

const FIELDS: readonly FieldSpec[] = [
  { name: 'budget_usd', label: 'Budget of the whole run, USD', kind: 'usd', required: true },
];

function Controls({ run, budget }: { readonly run: RunDetail; readonly budget: number }) {
  const [isRaising, setIsRaising] = useState(false);
  const at = { param: { id: run.id }, query: { project_id: run.project_id } };
  const affects = [['runs']];
  const raise = useChange({
    run: (json: { budget_usd: string }) => read(api.runs[':id'].raise.$post({ ...at, json })),
    affects,
    done: 'The run continues with its next request',
  });
  const stop = useChange({ run: () => read(api.runs[':id'].stop.$post(at)), affects, done: 'Run stopped' });
  return (
    <span className="ml-auto flex gap-2">
      <Needed value="change_own_keys">
        <ChangeButton onClick={() => setIsRaising(true)}>Raise budget</ChangeButton>
        <ConfirmButton
          title={`Stop run ${run.id}?`}
          impact="Its calls under way are cancelled, and further requests get 402. A stopped run can't continue."
          confirmLabel="Stop run"
          change={stop}
          onConfirm={(close) => stop.mutate(undefined, { onSuccess: close })}
        >
          Stop
        </ConfirmButton>
        <SpecDialog
          title={`Raise the budget of ${run.id}`}
          description={`${formatUsd(run.spent_usd)} of ${formatUsdExact(budget)} is spent.`}
          open={isRaising}
          onClose={() => setIsRaising(false)}
          specs={FIELDS}
          resource={{ budget_usd: Math.max(budget, run.spent_usd) * 2 }}
          submitLabel="Raise budget"
          change={raise}
          onSubmit={(body) => raise.mutate(body as { budget_usd: string }, { onSuccess: () => setIsRaising(false) })}
        />
      </Needed>
    </span>
  );
}
