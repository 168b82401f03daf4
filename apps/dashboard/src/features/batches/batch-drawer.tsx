import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { useKeyNames, useProjectNames } from '../../api/projects';
import { useSession } from '../../api/session';
import { countOf } from '../../format/format-number';
import { formatInstant } from '../../format/format-time';
import { formatUsd } from '../../format/format-usd';
import { usePage } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import { Badge } from '../../ui/badge';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { PlaceLink } from '../../ui/place-link';
import { ConfirmButton } from '../forms/confirm-button';
import { describeLines, isCancellable, progressOf, reasonOf, statusOf, toneOf } from './prepare-batch';
import { ProgressBar } from './progress-bar';
import { type Batch, fileOf, useBatch, useReasons } from './use-batches';

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
        {batch !== undefined && <Files batch={batch} />}
        {batch?.errors != null && <Faults faults={batch.errors} />}
      </div>
    </Dialog>
  );
}

interface Props {
  readonly batch: Batch;
}

function Summary({ batch }: Props) {
  const { timeZone } = usePage();
  const { cost_usd: cost, bound_usd: bound, ended_at: end, expires_at: expiry } = batch;
  const progress = progressOf(batch);
  const reason = reasonOf(batch);
  const keyName = useKeyNames([batch.api_key_id]);
  return (
    <section className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={toneOf(batch)}>{statusOf(batch)}</Badge>
        <span className="nums">
          {formatUsd(cost)} of at most {formatUsd(bound)}
        </span>
        {isCancellable(batch) && <Cancel batch={batch} />}
      </div>
      {progress !== null && <ProgressBar share={progress} label="Lines that were run" />}
      <p className="text-sm">{describeLines(batch)}</p>
      {reason !== null && <p className="text-sm text-muted">{reason}</p>}
      <p className="text-xs text-muted">
        {batch.endpoint}, {countOf(batch.tokens_in, 'token')} in, {countOf(batch.tokens_out, 'token')} out, begun{' '}
        {formatInstant(batch.created_at, timeZone)},{' '}
        {end === null ? `expires ${formatInstant(expiry, timeZone)}` : `ended ${formatInstant(end, timeZone)}`}
      </p>
      <p className="text-xs text-muted">
        Key {keyName(batch.api_key_id)} · <Rows batch={batch} />
      </p>
    </section>
  );
}

/** Answers and errors to download, and the first errors. They are for who may read prompts. */
function Files({ batch }: Props) {
  const mayRead = useSession().data?.can_read_bodies === true;
  const reasons = useReasons(batch, mayRead && batch.has_error_file);
  if (!batch.has_output_file && !batch.has_error_file) return null;
  if (!mayRead) return <p className="text-xs text-muted">You may not read the files of this batch.</p>;
  return (
    <section className="grid gap-2">
      <Failure of={reasons} />
      {reasons.data !== undefined && reasons.data.length > 0 && (
        <ul aria-label="First errors" className="grid gap-1 text-sm">
          {reasons.data.map((reason) => (
            <li key={reason} className="wrap-anywhere">
              {reason}
            </li>
          ))}
        </ul>
      )}
      <p className="flex gap-4 text-sm">
        {batch.has_output_file && <Download href={fileOf(batch, 'output')}>Download output file</Download>}
        {batch.has_error_file && <Download href={fileOf(batch, 'error')}>Download error file</Download>}
      </p>
    </section>
  );
}

function Download({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <a href={href} download className="text-accent underline">
      {children}
    </a>
  );
}

/** Leads to the rows of its lines. */
function Rows({ batch: { batch_id: name, created_at: from, ended_at: end, expires_at: expiry } }: Props) {
  const stretch = { range: undefined, project: undefined, open: undefined, from, to: end ?? expiry };
  return (
    <PlaceLink {...requestsLink({ ...stretch, label: `batch=${name}` })} className="underline">
      Requests of this batch
    </PlaceLink>
  );
}

function Cancel({ batch: { id, batch_id: name } }: Props) {
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
