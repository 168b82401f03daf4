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

interface Asked {
  readonly name: string;
  /** null = of every project. */
  readonly projectId: string | null;
  /** Earlier requests meant something else by the name. */
  readonly since: string;
}

/** Recent requests for a name, which roll-ups lack; undefined = nothing to ask for. */
export function useRecentlyAsked(asked: Asked | undefined): string {
  const hour = useLastHour();
  const { data } = useLogSample(
    asked && {
      requested_model: asked.name,
      from: new Date(Math.max(Date.parse(hour.from), Date.parse(asked.since))).toISOString(),
      ...(asked.projectId === null ? {} : { project_id: asked.projectId }),
    },
  );
  const least = data?.next_cursor ? 'At least ' : '';
  return `${least}${countOf(data?.data.length ?? 0, 'request')} in the last hour`;
}
