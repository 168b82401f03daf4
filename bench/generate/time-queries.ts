import { callAdmin } from '@llm0/testing/stores/start-gateway';
import { median } from '../report/rows';
import type { StartedGateway } from '../start-bench';
import { dashboardCalls } from './dashboard-calls';

export interface TimedQuery {
  readonly path: string;
  readonly range: string;
  /** Milliseconds of the whole admin request. */
  readonly minMs: number;
  readonly medianMs: number;
}

const TIMES = 3;

/** Times everything the dashboard asks, over each range. */
export async function timeQueries(gateway: StartedGateway, nowMs: number): Promise<readonly TimedQuery[]> {
  const timed: TimedQuery[] = [];
  for (const { name, range, path } of dashboardCalls(nowMs)) {
    const tookMs: number[] = [];
    for (let i = 0; i < TIMES; i++) {
      const startMs = performance.now();
      await callAdmin(gateway, path);
      tookMs.push(performance.now() - startMs);
    }
    timed.push({ path: name, range, minMs: Math.min(...tookMs), medianMs: median(tookMs) });
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
