// The clock file can't be read: the last offset holds.
import { readFileSync } from 'node:fs';

export interface WallClock {
  /** Epoch milliseconds. */
  readonly nowMs: () => number;
  stop(): void;
}

const POLL_MS = 50;

/** The machine's clock; in tests of whole processes, shifted by the milliseconds that `file` holds. */
export function createWallClock(file: string | undefined): WallClock {
  if (file === undefined) return { nowMs: Date.now, stop: () => {} };
  let offsetMs = readOffset(file) ?? 0;
  const timer = setInterval(() => {
    offsetMs = readOffset(file) ?? offsetMs;
  }, POLL_MS);
  return { nowMs: () => Date.now() + offsetMs, stop: () => clearInterval(timer) };
}

function readOffset(file: string): number | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text !== '' && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}
