import { describeAttempt, type StepKind } from '../../../charts/waterfall/prepare-waterfall';
import { formatMs } from '../../../format/format-number';
import { cacheOutcome } from '../../requests/prepare-request';
import { useRequestRow } from './use-request-row';

const SAID = {
  exact: 'Answered from the exact cache.',
  semantic: 'Answered from the semantic cache.',
  miss: null,
} as const;
const TINTS: Partial<Record<StepKind, string>> = { attempt: 'text-good', failed: 'text-bad' };

/** Tried targets in order with their outcomes, from the request's row once it exists. */
export function RouteTrace({ requestId }: { readonly requestId: string }) {
  const row = useRequestRow(requestId);
  const log = row.data;
  if (!log) {
    const isOver = row.error !== null || (row.data === null && !row.isFetching && row.isFetchedAfterMount);
    return (
      <p className="text-xs text-muted">
        {isOver ? 'The request is not in the log yet.' : 'Waiting for the request to appear in the log…'}
      </p>
    );
  }
  const said = SAID[cacheOutcome(log)];
  const attempts = log.attempts ?? [];
  return (
    <div className="grid gap-1 text-xs">
      {said !== null && <p>{said}</p>}
      {attempts.length === 0 && said === null && <p>No provider was called.</p>}
      <ol className="grid gap-0.5">
        {attempts.map((attempt, at) => {
          const { name, detail, kind } = describeAttempt(attempt);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: attempts have nothing else, and do not change
            <li key={at} className="flex flex-wrap justify-between gap-x-3">
              <span className="wrap-anywhere">
                {at + 1}. {name}
              </span>
              <span className={TINTS[kind] ?? 'text-muted'}>
                {detail}
                {kind !== 'skipped' && `, ${formatMs(attempt.latency_ms)}`}
              </span>
            </li>
          );
        })}
      </ol>
      {log.requested_model !== log.model && (
        <p className="wrap-anywhere">
          {log.model} answered for {log.requested_model}.
        </p>
      )}
      {log.dropped_params !== null && (
        <p className="wrap-anywhere">Dropped parameters: {log.dropped_params.join(', ')}</p>
      )}
    </div>
  );
}
