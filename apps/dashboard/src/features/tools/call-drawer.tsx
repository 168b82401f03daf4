import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, read } from '../../api/client';
import type { Log } from '../../api/logs';
import { useKeyNames, useProjectNames } from '../../api/projects';
import { useSession } from '../../api/session';
import { type ToolCall, useToolBodies } from '../../api/tools';
import { countOf, formatBytes, formatMs } from '../../format/format-number';
import { formatInstant, formatStamp } from '../../format/format-time';
import { formatUsdExact } from '../../format/format-usd';
import { usePage } from '../../range/use-page';
import { Badge, STATUS_TONES } from '../../ui/badge';
import { Dialog, type DialogOf } from '../../ui/dialog';
import { Failure } from '../../ui/error-state';
import { Mono } from '../../ui/mono';
import { NotKept, Raw } from '../requests/raw-body';

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
    ['Cost', formatUsdExact(call.cost_usd)],
    ['Request ID', call.request_id],
  ];
  return (
    <Dialog kind="drawer" title={`${call.server}: ${call.tool}`} description={call.id} onClose={onClose}>
      <div className="grid gap-5 *:min-w-0">
        <div className="flex flex-wrap gap-2">
          <Badge tone={STATUS_TONES[call.status]}>{call.status.replace('_', ' ')}</Badge>
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
        <Run runId={call.run_id} />
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

interface Step {
  readonly id: string;
  readonly at: string;
  readonly what: string;
  readonly ms: number;
  readonly costUsd: number;
  readonly isChat: boolean;
}

/** Chat requests and calls of one run, in the order of time. */
function useRun(runId: string) {
  return useQuery({
    queryKey: ['tool-calls', 'run', runId],
    queryFn: async () => {
      const query = { run_id: runId, limit: '200' };
      const [chats, calls] = await Promise.all([
        read(api.logs.$get({ query })),
        read(api['tool-calls'].$get({ query })),
      ]);
      const steps = [...(chats.data as readonly Log[]).map(chatStep), ...calls.data.map(callStep)];
      const isCut = chats.next_cursor !== null || calls.next_cursor !== null;
      return { steps: steps.sort((a, b) => (a.at < b.at ? -1 : 1)), isCut };
    },
  });
}

const chatStep = (log: Log): Step => ({
  ...{ id: log.request_id, at: log.created_at, what: log.model ?? 'request', isChat: true },
  ...{ ms: log.latency_ms, costUsd: log.cost_usd },
});
const callStep = (call: ToolCall): Step => ({
  ...{ id: call.id, at: call.created_at, what: `${call.server}: ${call.tool}`, isChat: false },
  ...{ ms: call.latency_ms, costUsd: call.cost_usd },
});

function Run({ runId }: { readonly runId: string }) {
  const { timeZone } = usePage();
  const run = useRun(runId);
  const { steps = [], isCut = false } = run.data ?? {};
  const chats = steps.filter(({ isChat }) => isChat).length;
  const total = steps.reduce((sum, { costUsd }) => sum + costUsd, 0);
  return (
    <section>
      <h3 className="mb-1 text-xs font-semibold text-muted wrap-anywhere">Run {runId}</h3>
      <Failure of={run} />
      {run.data !== undefined && (
        <>
          <p className="mb-1 text-xs text-muted">
            {isCut ? 'The newest of it: ' : ''}
            {countOf(chats, 'model request')} and {countOf(steps.length - chats, 'tool call')}, {formatUsdExact(total)}{' '}
            in total.{' '}
            <Link
              to="/tools"
              search={(kept) => ({ ...kept, open: undefined, tab: 'calls' as const, run: runId })}
              className="text-accent underline"
            >
              Show its calls
            </Link>
          </p>
          <ol className="divide-y">
            {steps.map((step) => (
              <li key={step.id} className="flex justify-between gap-3 py-1">
                <span className="nums shrink-0 text-muted">{formatStamp(step.at, timeZone)}</span>
                <StepLink step={step} />
                <span className="nums shrink-0">{formatMs(step.ms)}</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

/** A request opens on the requests page, a call in its own list. */
function StepLink({ step: { id, what, isChat } }: { readonly step: Step }) {
  return (
    <Link
      to={isChat ? '/requests' : '/tools'}
      search={({ range, from, to, tz }) => ({ range, from, to, tz, open: id, ...(isChat ? {} : { tab: 'calls' }) })}
      className="min-w-0 grow text-accent wrap-anywhere hover:underline"
    >
      {what}
    </Link>
  );
}
