import { Link } from '@tanstack/react-router';
import { useKeyNames, useProjectNames } from '../../api/projects';
import { useSession } from '../../api/session';
import { type ToolCall, useToolBodies } from '../../api/tools';
import { formatBytes, formatMs } from '../../format/format-number';
import { formatInstant } from '../../format/format-time';
import { formatUsd } from '../../format/format-usd';
import { outcomeLabel } from '../../format/outcome-labels';
import { usePage } from '../../range/use-page';
import { Badge, STATUS_TONES } from '../../ui/badge';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Mono } from '../../ui/name';
import { NotKept, Raw } from '../requests/raw-body';
import { keyOfRun } from '../runs/prepare-run';
import { RunTree } from '../runs/run-tree';

/** Everything known of one call, and the run it belongs to. */
export function CallDrawer({ of: call, onClose }: DialogOf<ToolCall>) {
  const { timeZone } = usePage();
  const projectName = useProjectNames();
  const keyName = useKeyNames([call.api_key_id]);
  const facts: readonly (readonly [string, string | null])[] = [
    ['Time', formatInstant(call.created_at, timeZone)],
    ['Project', projectName(call.project_id)],
    ['Key', keyName(call.api_key_id)],
    ['Customer', call.customer_id],
    ['Time taken', formatMs(call.latency_ms)],
    ['Sent', formatBytes(call.bytes_in)],
    ['Received', formatBytes(call.bytes_out)],
    ['Cost', formatUsd(call.cost_usd)],
    ['Request ID', call.request_id],
  ];
  return (
    <Dialog kind="drawer" title={`${call.server}: ${call.tool}`} description={call.id} onClose={onClose}>
      <div className="grid gap-5 *:min-w-0">
        <div className="flex flex-wrap gap-2">
          <Badge tone={STATUS_TONES[call.status]}>{outcomeLabel(call.status)}</Badge>
          {call.is_error && <Badge tone="warn">isError</Badge>}
        </div>
        {call.error_code !== null && (
          <p className="rounded-md bg-bad-soft px-3 py-2 text-bad wrap-anywhere">
            <Mono>{call.error_code}</Mono> {call.error_message}
          </p>
        )}
        <dl className="divide-y">
          {facts
            .filter(([, value]) => value !== null)
            .map(([name, value]) => (
              <div key={name} className="flex justify-between gap-4 py-1">
                <dt className="shrink-0 text-muted">{name}</dt>
                <dd className="tabular-nums text-right wrap-anywhere">{value}</dd>
              </div>
            ))}
        </dl>
        <Bodies call={call} />
        <Run call={call} />
      </div>
    </Dialog>
  );
}

function Bodies({ call }: { readonly call: ToolCall }) {
  const mayRead = useSession().data?.can_read_bodies === true;
  const bodies = useToolBodies(call.request_id, mayRead);
  if (!mayRead) return <p className="text-xs text-muted">Your token may not read arguments and results.</p>;
  if (bodies.data === undefined || bodies.data === null) {
    return bodies.error ? <NotKept what="Arguments and result" /> : null;
  }
  return (
    <section className="grid gap-3 *:min-w-0">
      <Raw label="Arguments" body={bodies.data.arguments} />
      <Raw label="Result" body={bodies.data.result} />
    </section>
  );
}

function Run({ call: { run_id: runId, project_id: projectId } }: { readonly call: ToolCall }) {
  return (
    <section>
      <h3 className="mb-1 text-xs font-semibold text-muted wrap-anywhere">
        <Link
          to="/runs"
          search={(kept) => ({ ...kept, open: keyOfRun({ id: runId, project_id: projectId }) })}
          className="text-accent underline"
        >
          Run {runId}
        </Link>
      </h3>
      <RunTree id={runId} projectId={projectId} />
    </section>
  );
}
