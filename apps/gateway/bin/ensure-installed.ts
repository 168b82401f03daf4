// Imports nothing but what Bun ships: it runs before anything is installed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The repository's root. */
export const ROOT = join(import.meta.dir, '../../..');

/** Installs exactly what `bun.lock` says, when that is not what was installed last. False when it failed. */
export function ensureInstalled(): boolean {
  const stamp = join(ROOT, 'node_modules', '.llm0-lock');
  const wanted = Bun.hash(readFileSync(join(ROOT, 'bun.lock'))).toString(36);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return true;
  console.error('installing dependencies');
  const { exitCode } = Bun.spawnSync([process.execPath, 'install', '--frozen-lockfile'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (exitCode !== 0) return false;
  writeFileSync(stamp, wanted);
  return true;
}
