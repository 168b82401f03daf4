/** Enough to hide round trips; the gateway's pool has ten connections. */
const AT_ONCE = 8;

/** Runs a step for each item, a few at a time. After a failure no further one starts; throws it once all have ended. */
export async function runBounded<T>(items: readonly T[], step: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  let failure: { readonly error: unknown } | undefined;
  const work = async () => {
    for (const item of left) {
      if (failure !== undefined) return;
      try {
        await step(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  if (failure !== undefined) throw failure.error;
}
