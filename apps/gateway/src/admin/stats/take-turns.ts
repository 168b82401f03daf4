/** Runs at most `most` tasks at once, in order of arrival. */
export function takeTurns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // Passes the turn on directly, so that newcomers don't overtake the queue.
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
