/** Runs `ask` at most once in the interval; callers share the result. */
export function shareAnswer<T>(ask: () => Promise<T>, keptMs: number, monotonicMs: () => number): () => Promise<T> {
  let last: { readonly atMs: number; readonly answer: Promise<T> } | undefined;
  return () => {
    const nowMs = monotonicMs();
    if (last === undefined || nowMs - last.atMs >= keptMs) last = { atMs: nowMs, answer: ask() };
    return last.answer;
  };
}
