/** Runs at most `most` pieces of work at once; the others wait in line, first come first served. */
export function takeTurns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // A turn is handed on rather than given back: nobody who comes now gets in before those who wait.
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
