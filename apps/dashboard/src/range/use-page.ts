import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import type { TimeZoneChoice } from '../format/format-time';
import type { PageSearch } from './page-search';
import { rangeQuery, resolveRange, type TimeRange } from './time-range';

const TICK_MS = 30_000;

/** The range, zone and project the address asks for. */
export interface Page {
  readonly search: PageSearch;
  readonly range: TimeRange;
  readonly timeZone: TimeZoneChoice;
  readonly projectId: string | undefined;
  /** `from`, `to` and `project_id` as the API takes them. */
  readonly query: { readonly from: string; readonly to: string; readonly project_id?: string };
  readonly change: (change: Partial<PageSearch>) => void;
}

export function usePage(): Page {
  const search = useSearch({ strict: false }) as PageSearch;
  const navigate = useNavigate();
  const nowMs = useNow(TICK_MS);
  const { range: preset, from, to, tz, project } = search;
  return useMemo(() => {
    const range = resolveRange({ range: preset, from, to }, nowMs);
    return {
      search,
      range,
      timeZone: tz === 'local' ? ('local' as const) : ('utc' as const),
      projectId: project,
      query: { ...rangeQuery(range), ...(project === undefined ? {} : { project_id: project }) },
      change: (change) =>
        void navigate({ to: '.', search: (before) => ({ ...before, ...change }), resetScroll: false }),
    };
  }, [search, preset, from, to, tz, project, nowMs, navigate]);
}

/** The clock, moving in steps: charts of "the last hour" follow it. */
export function useNow(stepMs: number): number {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), stepMs);
    return () => clearInterval(timer);
  }, [stepMs]);
  return nowMs;
}
