/** What the work gives, or what `onLate` gives (or throws) after so long; the work itself goes on by itself. */
export async function inTime<T, L>(work: Promise<T>, ms: number, onLate: () => L): Promise<T | L> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  try {
    return await Promise.race([work, late.promise.then(onLate)]);
  } finally {
    clearTimeout(timer);
  }
}
