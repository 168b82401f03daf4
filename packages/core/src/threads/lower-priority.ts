import { setPriority } from 'node:os';

/**
 * Where cores are few, requests come before the work of this thread. `nice` from 1 to 19; on Linux only, where a priority is
 * one thread's alone.
 */
export function lowerPriority(nice: number): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, nice);
  } catch {
    // Not allowed here: everybody is equal then.
  }
}
