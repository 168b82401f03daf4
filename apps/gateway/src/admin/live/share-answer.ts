/** Asks at most once in so many milliseconds, whoever wants to know; who asks meanwhile is told the same. */
export function shareAnswer<T>(ask: () => Promise<T>, keptMs: number, monotonicMs: () => number): () => Promise<T> {
  let last: { readonly atMs: number; readonly answer: Promise<T> } | undefined;
  return () => {
    const nowMs = monotonicMs();
    if (last === undefined || nowMs - last.atMs >= keptMs) last = { atMs: nowMs, answer: ask() };
    return last.answer;
  };
}
