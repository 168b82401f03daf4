import { setPriority } from 'node:os';

/**
 * With few cores, requests come before this thread's work. `nice` from 1 to 19; Linux only, where a priority belongs to
 * one thread.
 */
export function lowerPriority(nice: number): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, nice);
  } catch {
    // Not permitted here: all threads stay equal.
  }
}
