/** Processor time of this thread in ms: a busy machine does not lengthen it, as it does the time of a clock. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
