import { useState } from 'react';
import { useLogSample } from '../../api/logs';
import { useErrors } from '../../api/stats';
import { countOf } from '../../format/format-number';
import { rangeQuery, untilNow } from '../../range/time-range';

const HOUR_MS = 3_600_000;

/** The last hour, as it was when one began to ask. */
function useLastHour() {
  const [toMs] = useState(() => untilNow(Date.now()));
  return rangeQuery({ fromMs: toMs - HOUR_MS, toMs });
}

interface Group {
  readonly project_id?: string;
  readonly group_by: 'project' | 'key' | 'provider';
  readonly is: string;
}

/** `41 requests in the last hour`, of one thing. */
export function useRecentRequests({ is, ...query }: Group): string {
  const { data } = useErrors({ ...useLastHour(), ...query, interval: 'all' });
  const requests = data?.buckets.find(({ group }) => group === is)?.requests ?? 0;
  return `${countOf(requests, 'request')} in the last hour`;
}

/** Requests of a project's keys in the last hour. */
export function useRecentRequestsOf(keys: readonly { readonly id: string; readonly project_id: string }[]): number {
  const [first] = keys;
  const { data } = useErrors({ ...useLastHour(), project_id: first?.project_id, group_by: 'key', interval: 'all' });
  const ids = new Set(keys.map(({ id }) => id));
  const ours = data?.buckets.filter(({ group }) => group !== null && ids.has(group)) ?? [];
  return ours.reduce((sum, { requests }) => sum + requests, 0);
}

/** Recent requests for a model name, which roll-ups lack: a lower bound from the newest thousand. */
export function useRecentlyAsked(name: string): string {
  const { data } = useLogSample({ from: useLastHour().from });
  const requests = data?.data.filter(({ requested_model: asked }) => asked === name).length ?? 0;
  if (requests === 0) return data?.next_cursor ? 'None of the newest 1,000 requests' : 'No request in the last hour';
  return `${data?.next_cursor ? 'At least ' : ''}${countOf(requests, 'request')} in the last hour`;
}
