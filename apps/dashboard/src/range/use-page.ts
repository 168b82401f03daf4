import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useRowsToldOf } from '../api/live';
import type { TimeZoneChoice } from '../format/format-time';
import { keepZone } from './kept-zone';
import type { PageSearch } from './page-search';
import { earlierRange, rangeQuery, resolveRange, restFor, type TimeRange, untilNow } from './time-range';

const TICK_MS = 30_000;

/** The range, zone and project the address asks for. */
export interface Page {
  readonly search: PageSearch;
  readonly range: TimeRange;
  readonly timeZone: TimeZoneChoice;
  readonly projectId: string | undefined;
  /** `from`, `to` and `project_id` as the API takes them. */
  readonly query: RangeQuery;
  /** The period before as charts lay it under, and whether they are to. */
  readonly earlier: { readonly range: TimeRange; readonly query: RangeQuery; readonly isShown: boolean };
  readonly change: (change: Partial<PageSearch>) => void;
}

export interface RangeQuery {
  readonly from: string;
  readonly to: string;
  readonly project_id?: string;
}

export function usePage(): Page {
  const search = useSearch({ strict: false }) as PageSearch;
  const navigate = useNavigate();
  const { range: preset, from, to, tz, project, previous } = search;
  const nowMs = usePageNow(restFor(resolveRange({ range: preset }, 0)));
  return useMemo(() => {
    const range = resolveRange({ range: preset, from, to }, nowMs);
    const before = earlierRange(range);
    const ofProject = project === undefined ? {} : { project_id: project };
    return {
      search,
      range,
      timeZone: tz === 'local' ? ('local' as const) : ('utc' as const),
      projectId: project,
      query: { ...rangeQuery(range), ...ofProject },
      earlier: { range: before, query: { ...rangeQuery(before), ...ofProject }, isShown: previous === 'on' },
      change: (change) => {
        if ('tz' in change) keepZone(change.tz);
        void navigate({ to: '.', search: (before) => ({ ...before, ...change }), resetScroll: false });
      },
    };
  }, [search, preset, from, to, tz, project, previous, nowMs, navigate]);
}

/** Clock of charts: without new rows it pauses, and nothing reloads. */
function usePageNow(restMs: number): number {
  const rows = useRowsToldOf();
  const [nowMs, setNowMs] = useState(() => Date.now());
  const last = useRef(nowMs);
  useEffect(() => {
    const move = () => {
      last.current = Date.now();
      setNowMs(last.current);
    };
    const timer = setInterval(() => {
      const isResting = rows.isQuietSince(last.current) && Date.now() - last.current < restMs;
      if (!isResting) move();
    }, TICK_MS);
    const stop = rows.onRows(() => {
      if (untilNow(last.current) <= Date.now()) move();
    });
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [rows, restMs]);
  return nowMs;
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
