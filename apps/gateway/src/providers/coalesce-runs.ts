/**
 * Makes a reading one that never ends with something old: one run at a time, and whoever asks during a run waits for the
 * next one, which starts after the asking. Rejects like the run it stands for.
 */
export function coalesceRuns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const start = (): Promise<void> => {
    next = undefined;
    running = work().finally(() => {
      if (next === undefined) running = undefined;
    });
    return running;
  };
  return () => {
    if (running === undefined) return start();
    next ??= running.then(start, start);
    return next;
  };
}
