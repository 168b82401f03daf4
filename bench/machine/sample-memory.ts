import { processTree, residentMib } from './process-stats';

export interface MemoryPoint {
  /** Since sampling began. */
  readonly seconds: number;
  readonly mib: number;
}

export interface MemorySampling {
  /** Ends it; all points in order, one taken just now. */
  stop(): readonly MemoryPoint[];
}

/** Reads at an interval the resident memory of a process and of the descendants that it has at the beginning. */
export function sampleMemory(pid: number, everyMs: number): MemorySampling {
  const startMs = performance.now();
  const points: MemoryPoint[] = [];
  const pids = processTree(pid);
  const take = () => void points.push({ seconds: (performance.now() - startMs) / 1000, mib: residentMib(pids) });
  take();
  const timer = setInterval(take, everyMs);
  return {
    stop: () => {
      clearInterval(timer);
      take();
      return points;
    },
  };
}

export interface Slope {
  readonly mibPerHour: number;
  /** Half of its 95 % interval. */
  readonly marginMibPerHour: number;
}

const STUDENT_95 = 1.96;
const SECONDS_PER_HOUR = 3600;

/** Least squares over the points from `fromSeconds` on; null for fewer than three. */
export function slopeOf(points: readonly MemoryPoint[], fromSeconds: number): Slope | null {
  const used = points.filter(({ seconds }) => seconds >= fromSeconds);
  if (used.length < 3) return null;
  const meanX = used.reduce((sum, { seconds }) => sum + seconds, 0) / used.length;
  const meanY = used.reduce((sum, { mib }) => sum + mib, 0) / used.length;
  const squares = used.reduce((sum, { seconds }) => sum + (seconds - meanX) ** 2, 0);
  if (squares === 0) return null;
  const slope = used.reduce((sum, { seconds, mib }) => sum + (seconds - meanX) * (mib - meanY), 0) / squares;
  const rest = used.reduce((sum, { seconds, mib }) => sum + (mib - meanY - slope * (seconds - meanX)) ** 2, 0);
  const error = Math.sqrt(rest / (used.length - 2) / squares);
  return { mibPerHour: slope * SECONDS_PER_HOUR, marginMibPerHour: STUDENT_95 * error * SECONDS_PER_HOUR };
}
