import { RecordsRejectedError } from './decode-log-record';

/**
 * Writes the items and halves a rejected batch down to the faulty items, for `onRejected`. Throws other errors of
 * `write`.
 */
export async function writeInHalves<T>(
  items: readonly T[],
  write: (items: readonly T[]) => Promise<void>,
  onRejected: (item: T, error: RecordsRejectedError) => Promise<void> | void,
): Promise<void> {
  try {
    await write(items);
  } catch (error) {
    const [only] = items;
    if (!(error instanceof RecordsRejectedError) || only === undefined) throw error;
    if (items.length === 1) return onRejected(only, error);
    const middle = Math.ceil(items.length / 2);
    await writeInHalves(items.slice(0, middle), write, onRejected);
    await writeInHalves(items.slice(middle), write, onRejected);
  }
}
