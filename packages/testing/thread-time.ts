import { readFileSync } from 'node:fs';

/** Processor time of this thread in ms: a busy machine does not lengthen it, as it does the time of a clock. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Milliseconds of a clock that stands while this thread waits for a processor, or the first threads of the `others` that
 * it waits for do. Without the kernel's counts, of any clock.
 */
export const undisturbedMs = (...others: readonly number[]): number =>
  others.reduce((ms, pid) => ms - waitedMs(pid), performance.now() - waitedMs('thread-self'));

/** Source: https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat */
function waitedMs(thread: string | number): number {
  try {
    return Number(readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
