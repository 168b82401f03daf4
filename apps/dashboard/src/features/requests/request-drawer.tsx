import { useChange } from '../../api/change';
import { api, read } from '../../api/client';
import { type Log, useLog, useLogBodies } from '../../api/logs';
import { useKeyNames, useProjectNames } from '../../api/projects';
import { formatMs } from '../../format/format-number';
import { formatInstant, type TimeZoneChoice } from '../../format/format-time';
import { Badge, STATUS_TONES } from '../../ui/badge';
import { CodeBlock } from '../../ui/copy-button';
import { Dialog } from '../../ui/dialog';
import { EmptyState } from '../../ui/empty-state';
import { Failure } from '../../ui/error-state';
import { Mono } from '../../ui/mono';
import { ChangeButton } from '../forms/change-button';
import { cacheOutcome, type Fact, prepareMeasures, prepareOrigin, prepareWaterfall } from './prepare-request';

interface Props {
  readonly requestId: string;
  readonly timeZone: TimeZoneChoice;
  readonly onClose: () => void;
}

/** Everything known of one request. */
export function RequestDrawer({ requestId, timeZone, onClose }: Props) {
  const log = useLog(requestId);
  return (
    <Dialog kind="drawer" title="Request" description={requestId} onClose={onClose}>
      <Failure of={log} />
      {log.data === null && <EmptyState title="There is no such request" />}
      {log.data && <Details log={log.data} timeZone={timeZone} />}
    </Dialog>
  );
}

function Details({ log, timeZone }: { readonly log: Log; readonly timeZone: TimeZoneChoice }) {
  const projectName = useProjectNames();
  const keyName = useKeyNames([log.api_key_id]);
  const names = { project: projectName(log.project_id), key: keyName(log.api_key_id) };
  return (
    <div className="grid gap-5">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={STATUS_TONES[log.status]}>{log.status.replace('_', ' ')}</Badge>
        <Badge>{log.http_status}</Badge>
        <Badge>{cacheOutcome(log) === 'miss' ? 'not from the cache' : `${cacheOutcome(log)} cache hit`}</Badge>
        {log.stream && <Badge>stream</Badge>}
        {log.cost_estimated && <Badge tone="warn">cost estimated</Badge>}
      </div>
      {log.error_code !== null && (
        <p className="rounded-md bg-bad-soft px-3 py-2 text-bad wrap-anywhere">
          <Mono>{log.error_code}</Mono> {log.error_message}
        </p>
      )}
      <Waterfall log={log} />
      <Facts title="What" facts={[['Time', formatInstant(log.created_at, timeZone)], ...prepareOrigin(log, names)]} />
      <div className="grid gap-5 sm:grid-cols-2">
        {Object.entries(prepareMeasures(log)).map(([title, facts]) => (
          <Facts key={title} title={title} facts={facts} />
        ))}
      </div>
      {log.semantic_cache_hit && <RejectAnswer requestId={log.request_id} />}
      <Bodies requestId={log.request_id} />
    </div>
  );
}

function Facts({ title, facts }: { readonly title: string; readonly facts: readonly Fact[] }) {
  return (
    <section>
      <h3 className="mb-1 text-xs font-semibold text-muted">{title}</h3>
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
    </section>
  );
}

const BAR_COLORS = { ok: 'bg-good', failed: 'bg-bad' } as const;

function Waterfall({ log }: { readonly log: Log }) {
  const bars = prepareWaterfall(log);
  if (bars.length === 0) return null;
  return (
    <section>
      <h3 className="mb-1 text-xs font-semibold text-muted">Attempts, of {formatMs(log.latency_ms)} in all</h3>
      <ol className="grid gap-1.5">
        {bars.map((bar) => (
          <li key={`${bar.label} ${bar.start}`}>
            <div className="flex justify-between gap-3 text-xs">
              <span className="truncate">{bar.label}</span>
              <span className="nums text-muted">
                {bar.detail}, {formatMs(bar.ms)}
              </span>
            </div>
            <div className="mt-0.5 h-2 rounded-sm bg-hover">
              <div
                className={`h-full rounded-sm ${BAR_COLORS[bar.kind]}`}
                style={{ marginLeft: `${bar.start * 100}%`, width: `${bar.length * 100}%` }}
              />
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Bodies({ requestId }: { readonly requestId: string }) {
  const bodies = useLogBodies(requestId);
  if (bodies.data === undefined) {
    return bodies.error ? (
      <p className="text-xs text-muted">
        Prompt and answer were not kept; <code className="font-mono">LOG_BODIES=true</code> keeps them for some days.
      </p>
    ) : null;
  }
  return (
    <div className="grid gap-3">
      <CodeBlock label="Request" code={JSON.stringify(bodies.data.request_body, null, 2)} />
      <CodeBlock label="Answer" code={JSON.stringify(bodies.data.response_body, null, 2)} />
    </div>
  );
}

/** A thumbs-down for what the semantic cache answered. */
function RejectAnswer({ requestId }: { readonly requestId: string }) {
  const reject = useChange({
    run: () => read(api.cache.reject.$post({ json: { request_id: requestId } })),
    affects: [['cache']],
    done: 'The answer is taken out, and the two questions are not matched again',
  });
  return (
    <div className="grid gap-2">
      <div>
        <ChangeButton size="small" disabled={reject.isPending} onClick={() => reject.mutate()}>
          This cached answer was wrong
        </ChangeButton>
      </div>
      <Failure of={reject} />
    </div>
  );
}
