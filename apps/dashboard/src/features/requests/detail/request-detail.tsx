import { useChange } from '../../../api/change';
import { api, read } from '../../../api/client';
import { type Log, useLog, useLogBodies } from '../../../api/logs';
import { useKeyNames, useProjectNames } from '../../../api/projects';
import { useSession } from '../../../api/session';
import { prepareWaterfall } from '../../../charts/waterfall/prepare-waterfall';
import { Waterfall } from '../../../charts/waterfall/waterfall';
import { countOf, formatCount, formatMs } from '../../../format/format-number';
import { formatInstant, type TimeZoneChoice } from '../../../format/format-time';
import { formatUsd, formatUsdExact } from '../../../format/format-usd';
import { OUTCOME_LABELS } from '../../../format/outcome-labels';
import { Badge, STATUS_TONES } from '../../../ui/badge';
import { Button } from '../../../ui/button';
import { Dialog } from '../../../ui/dialog';
import { EmptyState } from '../../../ui/empty-state';
import { Failure } from '../../../ui/error-state';
import { Mono } from '../../../ui/name';
import { PlaceLink } from '../../../ui/place-link';
import { ConfirmButton } from '../../forms/confirm-button';
import { cacheShown, type Fact, prepareMeasures, prepareOrigin } from '../prepare-request';
import { RequestActions } from '../request-actions';
import { RequestBodies } from '../request-bodies';
import { SidePanel } from './side-panel';

interface Props {
  readonly requestId: string;
  /** Its row in the list, if it is loaded. */
  readonly row: Log | undefined;
  readonly timeZone: TimeZoneChoice;
  /** Beside the list, or as a drawer over it. */
  readonly isBeside: boolean;
  /** Neighbours of the row in the list. */
  readonly place: { readonly hasPrevious: boolean; readonly hasNext: boolean };
  /** To the next one in the list (1), or the one before (-1). */
  readonly onStep: (by: number) => void;
  readonly onClose: () => void;
}

/** Everything known of one request. */
export function RequestDetail({ requestId, row, timeZone, isBeside, place, onStep, onClose }: Props) {
  const log = useLog(requestId, row);
  const frame = { title: 'Request', description: requestId, onClose };
  const content = (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-1.5">
        <Button size="small" disabled={!place.hasPrevious} onClick={() => onStep(-1)} title="k or ←">
          Previous
        </Button>
        <Button size="small" disabled={!place.hasNext} onClick={() => onStep(1)} title="j or →">
          Next
        </Button>
        {log.data && <RequestActions log={log.data} />}
      </div>
      <Failure of={log} />
      {log.data === null && <EmptyState title="Request not found" />}
      {log.data && <Details key={requestId} log={log.data} timeZone={timeZone} />}
    </>
  );
  return isBeside ? (
    <SidePanel {...frame}>{content}</SidePanel>
  ) : (
    <Dialog kind="drawer" {...frame}>
      {content}
    </Dialog>
  );
}

interface DetailsProps {
  readonly log: Log;
  readonly timeZone: TimeZoneChoice;
}

/** The conversation comes first, if it was kept. */
function Details({ log, timeZone }: DetailsProps) {
  const mayRead = useSession().data?.can_read_bodies === true;
  const bodies = useLogBodies(log.request_id, mayRead);
  const isKept = mayRead && bodies.data !== undefined && bodies.data !== null;
  // Another try of what failed takes nothing away.
  const isKnown = bodies.isFetched || !bodies.isFetching;
  const conversation = <RequestBodies {...{ log, mayRead, bodies }} />;
  return (
    <div className="@container">
      <div className="grid gap-5">
        <Summary log={log} />
        {isKept && conversation}
        {/* Nothing moves once it is there. */}
        {isKnown && <Technical log={log} timeZone={timeZone} />}
        {isKnown && !isKept && conversation}
      </div>
    </div>
  );
}

function Summary({ log }: { readonly log: Log }) {
  const cache = cacheShown(log);
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={STATUS_TONES[log.outcome]}>{OUTCOME_LABELS[log.outcome]}</Badge>
        <Badge>{log.http_status}</Badge>
        {cache !== null && <Badge>{cache === 'miss' ? 'cache miss' : `${cache} cache hit`}</Badge>}
        {log.stream && <Badge>stream</Badge>}
        {log.cost_estimated && <Badge tone="warn">cost estimated</Badge>}
      </div>
      <p className="flex flex-wrap gap-x-3 text-muted">
        <span className="font-medium text-text wrap-anywhere">{log.model}</span>
        <span className="nums">{formatMs(log.latency_ms)}</span>
        <span className="nums">
          {countOf(log.tokens_in, 'token')} in, {formatCount(log.tokens_out)} out
        </span>
        <span className="nums" title={formatUsdExact(log.cost_usd)}>
          {formatUsd(log.cost_usd)}
        </span>
      </p>
      {log.error_code !== null && (
        <p className="rounded-md bg-bad-soft px-3 py-2 text-bad wrap-anywhere">
          <Mono>{log.error_code}</Mono> {log.error_message}
        </p>
      )}
    </div>
  );
}

function Technical({ log, timeZone }: DetailsProps) {
  const projectName = useProjectNames();
  const keyName = useKeyNames([log.api_key_id]);
  const names = { project: projectName(log.project_id), key: keyName(log.api_key_id) };
  return (
    <>
      <Waterfall waterfall={prepareWaterfall(log)} />
      <Facts
        title="Details"
        facts={[['Time', formatInstant(log.created_at, timeZone)], ...prepareOrigin(log, names)]}
      />
      <div className="grid gap-5 @md:grid-cols-2">
        {Object.entries(prepareMeasures(log)).map(([title, facts]) => (
          <Facts key={title} title={title} facts={facts} />
        ))}
      </div>
      {log.semantic_cache_hit && <RejectAnswer requestId={log.request_id} />}
    </>
  );
}

function Facts({ title, facts }: { readonly title: string; readonly facts: readonly Fact[] }) {
  return (
    <section>
      <h3 className="mb-1 text-xs font-semibold text-muted">{title}</h3>
      <dl className="divide-y">
        {facts
          .filter(([, value]) => value !== null)
          .map(([name, value, link]) => (
            <div key={name} className="flex justify-between gap-4 py-1">
              <dt className="shrink-0 text-muted">{name}</dt>
              <dd className="tabular-nums text-right wrap-anywhere">
                {link === undefined ? (
                  value
                ) : (
                  <PlaceLink {...link} className="text-accent underline-offset-2 hover:underline">
                    {value}
                  </PlaceLink>
                )}
              </dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

/** Thumbs-down for a semantic cache hit. */
function RejectAnswer({ requestId }: { readonly requestId: string }) {
  const reject = useChange({
    run: () => read(api.cache.reject.$post({ json: { request_id: requestId } })),
    affects: [['cache']],
    done: 'Answer removed. The two questions will not be matched again.',
  });
  return (
    <div>
      <ConfirmButton
        size="small"
        title="Remove this answer from the caches?"
        impact="The two questions will not be matched again. The next such request goes to the model and is charged."
        confirmLabel="Remove answer"
        change={reject}
        onConfirm={(close) => reject.mutate(undefined, { onSuccess: close })}
      >
        Reject cached answer
      </ConfirmButton>
    </div>
  );
}
