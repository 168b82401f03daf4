import { callAdmin } from '@llm0/gateway/testing/start-gateway';
import { median } from '../report/rows';
import type { StartedGateway } from '../start-bench';

export interface TimedQuery {
  readonly path: string;
  readonly range: string;
  /** Milliseconds of the whole admin request. */
  readonly minMs: number;
  readonly medianMs: number;
}

const DAY_MS = 86_400_000;
const RANGES = { '1 h': DAY_MS / 24, '1 d': DAY_MS, '7 d': 7 * DAY_MS, '90 d': 90 * DAY_MS } as const;
const TIMES = 3;

/** What the dashboard asks: every query of the admin stats API, and the log pages. */
const QUERIES = [
  '/stats/overview',
  '/stats/spend',
  '/stats/spend?group_by=model',
  '/stats/spend?group_by=key&top=10',
  '/stats/spend?group_by=customer&top=10',
  '/stats/spend?group_by=label.team',
  '/stats/latency',
  '/stats/latency?group_by=provider',
  '/stats/cache',
  '/stats/errors',
  '/stats/errors?group_by=error_code',
  '/stats/histogram',
  '/logs?limit=50',
  '/logs?limit=50&status=error',
  '/logs?limit=50&min_latency=4000',
] as const;

/** Times each query over each range. */
export async function timeQueries(gateway: StartedGateway, nowMs: number): Promise<readonly TimedQuery[]> {
  const timed: TimedQuery[] = [];
  for (const path of QUERIES) {
    for (const [range, lengthMs] of Object.entries(RANGES)) {
      const from = new Date(nowMs - lengthMs).toISOString();
      const to = new Date(nowMs).toISOString();
      const url = `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ from, to })}`;
      const tookMs: number[] = [];
      for (let i = 0; i < TIMES; i++) {
        const startMs = performance.now();
        await callAdmin(gateway, url);
        tookMs.push(performance.now() - startMs);
      }
      timed.push({ path, range, minMs: Math.min(...tookMs), medianMs: median(tookMs) });
    }
  }
  return timed;
}

/** One line a query: milliseconds over each range. */
export function showQueries(timed: readonly TimedQuery[]): readonly string[] {
  const paths = [...new Set(timed.map(({ path }) => path))];
  return paths.map((path) => {
    const figures = timed
      .filter((one) => one.path === path)
      .map(({ range, minMs, medianMs }) => `${range} ${medianMs.toFixed(0)} ms (least ${minMs.toFixed(0)})`);
    return `\`${path}\`: ${figures.join(', ')}`;
  });
}
