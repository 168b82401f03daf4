/** Longest work between two yields. */
const SLICE_MS = 1;
/** Items between two looks at the clock. */
const LOOK_EVERY = 16;

/**
 * Runs `work` for every item in order, a millisecond at a time, so that requests run in between. The first error ends
 * it.
 */
export async function eachInSlices<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let sliceStartMs = performance.now();
  let done = 0;
  for (const item of items) {
    work(item);
    done++;
    if (done % LOOK_EVERY !== 0 || performance.now() - sliceStartMs < SLICE_MS) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    sliceStartMs = performance.now();
  }
}
