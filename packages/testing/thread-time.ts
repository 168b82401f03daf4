import { readFileSync } from 'node:fs';

/** Processor time of this thread in ms: a busy machine does not lengthen it, as it does the time of a clock. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds of a clock that stands while this thread waits for a processor. Without the kernel's counts, of any clock. */
export const undisturbedMs = (): number => performance.now() - waitedMs();

/** Source: https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat */
function waitedMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
