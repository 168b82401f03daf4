/** Result of the work, or of `onLate` (which may throw) after a time-out; the work continues. */
export async function inTime<T, L>(work: Promise<T>, ms: number, onLate: () => L): Promise<T | L> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  try {
    return await Promise.race([work, late.promise.then(onLate)]);
  } finally {
    clearTimeout(timer);
  }
}
