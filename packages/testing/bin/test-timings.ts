import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Milliseconds of each file: the longest begin, so that no process idles at the end. */
export const TIMINGS = join(import.meta.dir, 'test-timings.json');
/** Less is the noise of a machine. */
const STEP_MS = 2_000;

/** What a green run took replaces what was known where it is new, gone, or off by more than a quarter. */
export function mergeTimings(
  known: Readonly<Record<string, number>>,
  took: ReadonlyMap<string, number>,
  isThere: (path: string) => boolean,
): Readonly<Record<string, number>> {
  const merged = new Map(Object.entries(known).filter(([path]) => isThere(path)));
  for (const [path, ms] of took) {
    const before = merged.get(path);
    const isOff = before === undefined || Math.abs(ms - before) > Math.max(STEP_MS, before / 4);
    if (isOff) merged.set(path, Math.round(ms / 100) * 100);
  }
  return Object.fromEntries([...merged].sort(([a, aMs], [b, bMs]) => bMs - aMs || (a < b ? -1 : 1)));
}

export function writeTimings(took: ReadonlyMap<string, number>, isThere: (path: string) => boolean): void {
  const { version, files } = JSON.parse(readFileSync(TIMINGS, 'utf8'));
  const merged = mergeTimings(files, took, isThere);
  const text = `${JSON.stringify({ version, files: merged }, null, 2)}\n`;
  if (text !== readFileSync(TIMINGS, 'utf8')) writeFileSync(TIMINGS, text);
}
