const EVERY_MS = 500;

/** Measures how late a timer fires: as long everything else in this process waits too. Returns the end of it. */
export function sampleLoopLag(observe: (lagMs: number) => void, monotonicMs: () => number): () => void {
  let dueMs = monotonicMs() + EVERY_MS;
  const timer = setInterval(() => {
    const nowMs = monotonicMs();
    observe(Math.max(0, nowMs - dueMs));
    dueMs = nowMs + EVERY_MS;
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
