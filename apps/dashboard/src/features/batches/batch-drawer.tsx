import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useProjectNames } from '../../api/projects';
import { countOf } from '../../format/format-number';
import { formatInstant } from '../../format/format-time';
import { formatUsdExact } from '../../format/format-usd';
import { usePage } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { ConfirmButton } from '../forms/confirm-button';
import { describeLines, isCancellable, progressOf, STATUS_TONES } from './prepare-batch';
import { ProgressBar } from './progress-bar';
import { type Batch, useBatch } from './use-batches';

/** A batch: how far it is, what it cost so far, and its end. */
export function BatchDrawer({ of: { id }, onClose }: DialogOf<{ readonly id: string }>) {
  const query = useBatch(id);
  const batch = query.data;
  const projectName = useProjectNames();
  const project = batch === undefined ? '' : projectName(batch.project_id);
  return (
    <Dialog kind="drawer" title={`Batch ${batch?.batch_id ?? id}`} description={project} onClose={onClose}>
      <div className="grid gap-5 *:min-w-0">
        <Failure of={query} />
        {batch !== undefined && <Summary batch={batch} />}
        {batch?.errors != null && <Faults faults={batch.errors} />}
      </div>
    </Dialog>
  );
}

function Summary({ batch }: { readonly batch: Batch }) {
  const { timeZone } = usePage();
  const { status, cost_usd: cost, bound_usd: bound, ended_at: end, expires_at: expiry } = batch;
  const progress = progressOf(batch);
  return (
    <section className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={STATUS_TONES[status]}>{status}</Badge>
        <span className="nums">
          {formatUsdExact(cost)} of at most {formatUsdExact(bound)}
        </span>
        {isCancellable(batch) && <Cancel batch={batch} />}
      </div>
      {progress !== null && <ProgressBar share={progress} label="Lines that have ended" />}
      <p className="text-sm">{describeLines(batch)}</p>
      <p className="text-xs text-muted">
        {batch.endpoint}, {countOf(batch.tokens_in, 'token')} in, {countOf(batch.tokens_out, 'token')} out, begun{' '}
        {formatInstant(batch.created_at, timeZone)},{' '}
        {end === null ? `expires ${formatInstant(expiry, timeZone)}` : `ended ${formatInstant(end, timeZone)}`}
      </p>
    </section>
  );
}

function Cancel({ batch: { id, batch_id: name } }: { readonly batch: Batch }) {
  const cancel = useChange({
    run: () => read(api.batches[':id'].cancel.$post({ param: { id }, query: {} })),
    affects: [['batches']],
    done: 'Batch cancelled',
  });
  return (
    <span className="ml-auto">
      <ConfirmButton
        title={`Cancel ${name}?`}
        impact="Lines under way end and are paid. All others are given up."
        confirmLabel="Cancel batch"
        change={cancel}
        onConfirm={(close) => cancel.mutate(undefined, { onSuccess: close })}
      >
        Cancel batch
      </ConfirmButton>
    </span>
  );
}

function Faults({ faults }: { readonly faults: NonNullable<Batch['errors']> }) {
  return (
    <ul className="grid gap-1 text-sm">
      {faults.map(({ line, message }) => (
        <li key={`${line} ${message}`}>{line === null ? message : `Line ${line}: ${message}`}</li>
      ))}
    </ul>
  );
}
