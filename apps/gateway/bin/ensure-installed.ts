// Imports nothing but what Bun ships: it runs before anything is installed.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { installEnvironment } from '../../../packages/core/src/threads/program-environment';

/** The repository's root. */
export const ROOT = join(import.meta.dir, '../../..');
const MODULES = join(ROOT, 'node_modules');
const PROGRESS_MS = 3000;

/**
 * What running needs, or all with the tests' clients, linter and compiler. The root's `overrides` leave out
 * onnxruntime-web (140 MB), which the embedder's library has inside already.
 */
export type InstallScope = 'start' | 'all';

const FILTERS: Readonly<Record<InstallScope, readonly string[]>> = { start: ['--filter', './apps/*'], all: [] };

/** Installs exactly what `bun.lock` says, when that is not what was installed last. False when it failed. */
export async function ensureInstalled(scope: InstallScope): Promise<boolean> {
  const stamp = join(MODULES, '.llm0-lock');
  const wanted = Bun.hash(readFileSync(join(ROOT, 'bun.lock'))).toString(36);
  const [lock, installed] = existsSync(stamp) ? readFileSync(stamp, 'utf8').split(' ') : [];
  // A stamp without a scope is of a version that always installed all.
  if (lock === wanted && (scope === 'start' || installed !== 'start')) return true;
  console.error(`installing dependencies (once, ${scope === 'start' ? '508 MiB' : '930 MB'})`);
  const startMs = performance.now();
  const timer = setInterval(() => console.error(`installing dependencies: ${progress(startMs)}`), PROGRESS_MS);
  const cache = hasCache() ? undefined : join(MODULES, '.llm0-cache');
  const options = cache === undefined ? FILTERS[scope] : [...FILTERS[scope], `--cache-dir=${cache}`];
  const install = Bun.spawn([process.execPath, '--no-env-file', 'install', '--frozen-lockfile', ...options], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: installEnvironment(process.env),
  });
  const [exitCode, complaints] = await Promise.all([install.exited, new Response(install.stderr).text()]);
  clearInterval(timer);
  if (cache !== undefined) rmSync(cache, { recursive: true, force: true });
  if (exitCode !== 0) {
    console.error(complaints.trim());
    return false;
  }
  removeForeignBinaries();
  // Anew: copies of a checkout may share the old one by a hard link.
  rmSync(stamp, { force: true });
  writeFileSync(stamp, `${wanted} ${scope}`);
  console.error(`dependencies installed: ${progress(startMs)}`);
  return true;
}

/** Without one, whoever uses Bun for this alone would keep a second copy of everything (600 MB). */
function hasCache(): boolean {
  const { BUN_INSTALL_CACHE_DIR: own, BUN_INSTALL, XDG_CACHE_HOME } = process.env;
  const folders = [own, BUN_INSTALL && join(BUN_INSTALL, 'install/cache'), join(homedir(), '.bun/install/cache')];
  return [...folders, XDG_CACHE_HOME && join(XDG_CACHE_HOME, '.bun/install/cache')].some(
    (one) => one && existsSync(one),
  );
}

const progress = (startMs: number) => `${Math.round((performance.now() - startMs) / 1000)} s`;

/** The embedder's runtime comes with binaries for every system, 245 MB too many. */
export function removeForeignBinaries(): void {
  const root = join(MODULES, 'onnxruntime-node/bin');
  const foldersIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  for (const api of foldersIn(root)) {
    for (const system of foldersIn(join(root, api))) {
      for (const cpu of foldersIn(join(root, api, system))) {
        if (system === process.platform && cpu === process.arch) continue;
        rmSync(join(root, api, system, cpu), { recursive: true, force: true });
      }
    }
  }
}
