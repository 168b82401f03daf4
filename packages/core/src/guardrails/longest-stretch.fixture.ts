/**
 * Milliseconds of this thread in which nothing else had its turn, at most. By its own processor time: others on this machine, and
 * the gateway's other threads, do not count.
 */
export async function longestStretch(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let before = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    longestMs = Math.max(longestMs, (user + system) / 1000);
    before = process.threadCpuUsage();
  };
  const timer = setInterval(look, 0);
  await work();
  look();
  clearInterval(timer);
  return longestMs;
}
