import { callAdmin } from '@llm0/testing/stores/start-gateway';
import { median, type ServerPercentiles, type ServerSide, type Trial } from './report/rows';
import { type StartedGateway, waitForDrain } from './start-bench';

type Count = 'requests' | 'cache_hits' | 'semantic_hits';
type Metric = 'latency_ms' | 'overhead_ms' | 'upstream_ms';
type Overview = Readonly<Record<Count, number> & Record<Metric, ServerPercentiles>>;

const DRAIN_TIMEOUT_MS = 60_000;

/**
 * Percentiles that the gateway measured itself, from `gateway_logs` (within 2 %): medians over the trials. undefined while
 * rows are still on their way.
 */
export async function readServerSide(
  gateway: StartedGateway,
  trials: readonly Trial[],
): Promise<ServerSide | undefined> {
  if (!(await waitForDrain(gateway, DRAIN_TIMEOUT_MS))) return undefined;
  const overviews: Overview[] = [];
  for (const { load } of trials) {
    const range = new URLSearchParams({
      from: new Date(load.fromMs).toISOString(),
      to: new Date(load.toMs).toISOString(),
    });
    overviews.push(await callAdmin<Overview>(gateway, `/stats/overview?${range}`));
  }
  const at = (metric: Metric, name: keyof ServerPercentiles) => {
    const measured = overviews.flatMap((overview) => overview[metric][name] ?? []);
    return measured.length === 0 ? null : median(measured);
  };
  const all = (metric: Metric) => ({ p50: at(metric, 'p50'), p95: at(metric, 'p95'), p99: at(metric, 'p99') });
  const sum = (name: Count) => overviews.reduce((total, overview) => total + overview[name], 0);
  return {
    requests: sum('requests'),
    exactHits: sum('cache_hits'),
    semanticHits: sum('semantic_hits'),
    latency: all('latency_ms'),
    overhead: all('overhead_ms'),
    upstream: all('upstream_ms'),
  };
}
