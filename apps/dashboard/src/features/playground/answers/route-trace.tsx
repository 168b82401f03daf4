import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, read } from '../../../api/client';
import { formatMs } from '../../../format/format-number';
import { cacheOutcome, prepareWaterfall } from '../../requests/prepare-request';

const EVERY_MS = 700;
const MOST_LOOKS = 15;
const SAID = {
  exact: 'Answered from the exact cache.',
  semantic: 'Answered from the semantic cache.',
  miss: null,
} as const;

/** Tried targets in order with their outcomes, from the request's row once it exists. */
export function RouteTrace({ requestId }: { readonly requestId: string }) {
  const row = useQuery({
    queryKey: ['logs', 'trace', requestId],
    queryFn: async () => (await read(api.logs.$get({ query: { request_id: requestId } }))).data[0] ?? null,
    refetchInterval: ({ state }) => (state.data || state.dataUpdateCount >= MOST_LOOKS ? false : EVERY_MS),
  });
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
  const bars = prepareWaterfall(log);
  return (
    <div className="grid gap-1 text-xs">
      {said !== null && <p>{said}</p>}
      {bars.length === 0 && said === null && <p>No provider was called.</p>}
      <ol className="grid gap-0.5">
        {bars.map(({ label, detail, ms, start, kind }, at) => (
          <li key={`${label} ${start}`} className="flex flex-wrap justify-between gap-x-3">
            <span className="wrap-anywhere">
              {at + 1}. {label}
            </span>
            <span className={kind === 'ok' ? 'text-good' : 'text-bad'}>
              {detail}, {formatMs(ms)}
            </span>
          </li>
        ))}
      </ol>
      {log.requested_model !== log.model && (
        <p className="wrap-anywhere">
          {log.model} answered for {log.requested_model}.
        </p>
      )}
      {log.dropped_params !== null && (
        <p className="wrap-anywhere">Dropped parameters: {log.dropped_params.join(', ')}</p>
      )}
      <p>
        <Link to="/requests" search={(kept) => ({ ...kept, open: requestId })} className="text-accent underline">
          View this request
        </Link>
      </p>
    </div>
  );
}
