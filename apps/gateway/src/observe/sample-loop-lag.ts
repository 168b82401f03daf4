const EVERY_MS = 500;

/** Measures the delay of a timer, which all work in this process shares. Returns a stop function. */
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
