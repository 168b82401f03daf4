import { median } from '../report/rows';
import type { StartedGateway } from '../start-bench';
import { dashboardCalls } from './dashboard-calls';

export interface TimedQuery {
  readonly path: string;
  readonly range: string;
  /** Milliseconds of the whole admin request when the database is asked. */
  readonly minMs: number;
  readonly medianMs: number;
  /** The same asked again at once, in the median: from the gateway's cache where the question is worth it. */
  readonly againMs: number;
}

const TIMES = 3;

/** Times everything the dashboard asks, over each range. */
export async function timeQueries(gateway: StartedGateway, nowMs: number): Promise<readonly TimedQuery[]> {
  const timed: TimedQuery[] = [];
  for (const { name, range, path } of dashboardCalls(nowMs)) {
    const tookMs: number[] = [];
    const againMs: number[] = [];
    for (let i = 0; i < TIMES; i++) tookMs.push(await timeCall(gateway, path, { 'cache-control': 'no-cache' }));
    for (let i = 0; i < TIMES; i++) againMs.push(await timeCall(gateway, path));
    const found = { minMs: Math.min(...tookMs), medianMs: median(tookMs), againMs: median(againMs) };
    timed.push({ path: name, range, ...found });
  }
  return timed;
}

/** Milliseconds until all of the answer is there. Throws for a refusal. */
export async function timeCall(
  { url, adminToken }: Pick<StartedGateway, 'url' | 'adminToken'>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const startMs = performance.now();
  const response = await fetch(`${url}/admin/v1${path}`, {
    headers: { authorization: `Bearer ${adminToken}`, ...headers },
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${path}: status ${response.status}`);
  return performance.now() - startMs;
}

/** One line a query: milliseconds over each range. */
export function showQueries(timed: readonly TimedQuery[]): readonly string[] {
  const paths = [...new Set(timed.map(({ path }) => path))];
  return paths.map((path) => {
    const figures = timed
      .filter((one) => one.path === path)
      .map(({ range, minMs, medianMs, againMs }) => {
        const first = `${range} ${medianMs.toFixed(0)} ms (least ${minMs.toFixed(0)})`;
        return `${first}, again ${againMs.toFixed(0)}`;
      });
    return `\`${path}\`: ${figures.join(', ')}`;
  });
}
