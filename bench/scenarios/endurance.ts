import type { LoadJob } from '../load/load-job';
import { type MemoryPoint, slopeOf } from '../machine/sample-memory';
import { readServerSide } from '../read-server-side';
import { GATEWAY, type Row } from '../report/rows';
import type { BenchWorld } from '../start-bench';
import { measureLoad } from './measure-load';
import { MIXED } from './scenarios';
import { needGateway, type SpecialOutcome } from './special';

const DEFAULT_SECONDS = 1800;
/** Caches fill and code is compiled until then. */
const SETTLED_SECONDS = 300;
const SHORT_RUN_SHARE = 1 / 3;
const SHOWN_POINTS = 12;

/** One long mixed load on the gateway alone, its memory read every second. */
export async function measureEndurance(world: BenchWorld): Promise<SpecialOutcome> {
  const gateway = needGateway(world, 'endurance');
  const { options } = world;
  const seconds = options.seconds ?? DEFAULT_SECONDS;
  const connections = options.connections[0] ?? 10;
  const job: LoadJob = {
    url: gateway.url,
    callers: { type: 'one', apiKey: gateway.open.apiKey },
    ...{ connections, seconds, requests: MIXED, expectStatus: 200, rate: options.rate },
  };
  const sampled = { pid: gateway.pid, everyMs: Math.min(1000, seconds * 20) };
  const { trial, points } = await measureLoad(world, job, sampled);
  const fromSeconds = Math.min(SETTLED_SECONDS, seconds * SHORT_RUN_SHARE);
  const slope = slopeOf(points, fromSeconds) ?? undefined;
  const server = await readServerSide(gateway, [trial]);
  const row: Row = {
    ...{ scenario: 'endurance', target: GATEWAY, process: 'gateway', connections, trials: [trial] },
    ...(slope === undefined ? {} : { slope }),
    ...(server === undefined ? {} : { server }),
  };
  return { rows: [row], notes: [describe(points, fromSeconds, slope)] };
}

function describe(points: readonly MemoryPoint[], fromSeconds: number, slope: Row['slope']): string {
  const step = Math.max(1, Math.floor(points.length / SHOWN_POINTS));
  const shown = points.filter((_, index) => index % step === 0);
  const course = shown.map(({ seconds, mib }) => `${Math.round(seconds)} s: ${Math.round(mib)}`).join(', ');
  const found =
    slope === undefined
      ? 'too short for a slope'
      : `${slope.mibPerHour.toFixed(1)} ± ${slope.marginMibPerHour.toFixed(1)} MiB per hour after ${Math.round(fromSeconds)} s`;
  return `endurance: memory ${found}. MiB over time: ${course}`;
}
