import type { LoadJob, LoadResult } from '../load/load-job';
import { load } from '../load/start-load';
import { show } from '../report/render-table';
import { median } from '../report/rows';
import type { BenchWorld, StartedGateway } from '../start-bench';

interface Disturbance {
  readonly name: string;
  readonly gateway: StartedGateway;
  /** Of a trial, where none were asked for. */
  readonly seconds: number;
  /** Hits a second; absent = as fast as they go. */
  readonly rate?: number;
  /** Begins it; what that resolves to ends it after the second load of a trial, and describes both. */
  begin(): Promise<(quiet: LoadResult, busy: LoadResult) => Promise<string>>;
}

/** Hits in turn without and with something beside them: a line a trial, and how many times the p99 without that with is. */
export async function measureBeside({ options }: BenchWorld, { name, gateway, ...given }: Disturbance) {
  const job: LoadJob = {
    url: gateway.url,
    callers: { type: 'one', apiKey: gateway.open.apiKey },
    connections: options.connections[0] ?? 10,
    seconds: options.seconds ?? given.seconds,
    requests: [{ model: 'gpt-4o-mini', stream: false, question: 'same' }],
    expectStatus: 200,
    rate: given.rate,
  };
  await load({ ...job, seconds: options.warmUpSeconds });
  const p99Ms = { quiet: [] as number[], busy: [] as number[] };
  const notes: string[] = [];
  for (let trial = 1; trial <= options.trials; trial++) {
    const quiet = await load(job);
    const end = await given.begin();
    const busy = await load(job);
    const described = await end(quiet, busy);
    const change = (name: 'p50' | 'p99') => `${name} ${show(msOf(quiet, name))} → ${show(msOf(busy, name))} ms`;
    p99Ms.quiet.push(msOf(quiet, 'p99'));
    p99Ms.busy.push(msOf(busy, 'p99'));
    notes.push(`${name}, trial ${trial}: ${change('p50')}, ${change('p99')}${described}`);
  }
  return { notes, ratio: `${(median(p99Ms.busy) / median(p99Ms.quiet)).toFixed(2)}×` };
}

const msOf = ({ latencyMs }: LoadResult, name: 'p50' | 'p99') => latencyMs?.[name] ?? Number.NaN;
