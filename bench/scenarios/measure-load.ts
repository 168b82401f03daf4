import type { LoadJob } from '../load/load-job';
import { load } from '../load/start-load';
import { readCpu, readMainThread } from '../machine/process-stats';
import { type MemoryPoint, sampleMemory } from '../machine/sample-memory';
import type { Trial } from '../report/rows';
import type { BenchWorld } from '../start-bench';

interface MeasuredLoad {
  readonly trial: Trial;
  /** Of the target's memory; none where its process is not ours. */
  readonly points: readonly MemoryPoint[];
}

/** One load: throughput, latencies, and what each process used meanwhile, the memory of `pid` sampled every so often. */
export async function measureLoad(
  { processes }: Pick<BenchWorld, 'processes'>,
  job: LoadJob,
  { pid, everyMs }: { readonly pid: number | undefined; readonly everyMs: number },
): Promise<MeasuredLoad> {
  const before = readCpu(processes);
  const readMain = () => (pid === undefined ? 0 : readMainThread(pid));
  const mainBefore = readMain();
  const sampling = pid === undefined ? undefined : sampleMemory(pid, everyMs);
  try {
    const result = await load(job);
    const used = Object.entries(readCpu(processes)).map(([name, seconds]) => [name, seconds - (before[name] ?? 0)]);
    const mainThreadSeconds = pid === undefined ? null : readMain() - mainBefore;
    const points = sampling?.stop() ?? [];
    const last = points.at(-1);
    const trial: Trial = {
      load: result,
      cpuSeconds: { ...Object.fromEntries(used), client: result.clientCpuSeconds },
      mainThreadSeconds,
      memory: last ? { peakMib: Math.max(...points.map(({ mib }) => mib)), endMib: last.mib } : null,
    };
    return { trial, points };
  } finally {
    sampling?.stop();
  }
}
