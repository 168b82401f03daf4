// Imports nothing but what Bun ships: it runs before anything is installed.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programEnvironment } from '../../../packages/core/src/threads/program-environment';
import { ROOT } from './ensure-installed';
import { RUNTIME_ENVIRONMENT } from './runtime-environment';

/** A site that the gateway serves from its folder's `dist`. */
export interface Site {
  readonly name: string;
  readonly folder: string;
  /** Everything its build depends on, from its folder. */
  readonly sources: readonly string[];
}

const DASHBOARD: Site = {
  name: 'dashboard',
  folder: join(ROOT, 'apps/dashboard'),
  sources: ['package.json', '*.html', '*.ts', 'src/**/*', 'public/**/*'],
};
const DOCS: Site = {
  name: 'documentation',
  folder: join(ROOT, 'apps/docs'),
  sources: ['package.json', '.vitepress/*.ts', '../../docs/**/*.md'],
};
const STAMP = '.stamp';
/** Followed by the id of the process that builds there. */
const HALF_BUILT = '.dist-';

export const ensureDashboard = (ended?: AbortSignal): Promise<boolean> => ensureBuilt(DASHBOARD, ended);
export const ensureDocs = (ended?: AbortSignal): Promise<boolean> => ensureBuilt(DOCS, ended);

/**
 * Builds a site when its sources changed since the last build; false when that failed. The build appears as a whole: until then
 * the one before is served. `ended` ends it with all its processes.
 */
export async function ensureBuilt(site: Site, ended?: AbortSignal): Promise<boolean> {
  const { name, folder } = site;
  const dist = join(folder, 'dist');
  const wanted = hashSources(site);
  const stamp = join(dist, STAMP);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return true;
  console.error(`building the ${name} (once, beside the start)`);
  removeHalfBuilt(folder);
  const fresh = join(folder, `${HALF_BUILT}${process.pid}`);
  try {
    // The bundle must be React's production one, whatever this process is.
    const build = Bun.spawn([process.execPath, '--no-env-file', '--no-orphans', 'run', 'build', '--outDir', fresh], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...programEnvironment(process.env), ...RUNTIME_ENVIRONMENT, NODE_ENV: 'production' },
      ...(ended === undefined ? {} : { signal: ended }),
    });
    if ((await build.exited) !== 0) return false;
    writeFileSync(join(fresh, STAMP), wanted);
    rmSync(dist, { recursive: true, force: true });
    renameSync(fresh, dist);
    return true;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** What builds left whose start was refused or killed meanwhile: their processes are gone. */
export function removeHalfBuilt(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith(HALF_BUILT) && !isAlive(Number(name.slice(HALF_BUILT.length))))
      rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export const dashboardSources = (): readonly string[] => sourcesOf(DASHBOARD);

/** Everything a build depends on, besides the lock file; paths from the site's folder. */
function sourcesOf({ folder, sources }: Site): readonly string[] {
  const scan = (pattern: string) => [...new Bun.Glob(pattern).scanSync({ cwd: folder, onlyFiles: true, dot: true })];
  const files = sources.flatMap(scan);
  return files.filter((file) => !/\.test\.tsx?$/.test(file)).sort();
}

function hashSources(site: Site): string {
  const hasher = new Bun.CryptoHasher('sha256');
  hasher.update(readFileSync(join(ROOT, 'bun.lock')));
  for (const file of sourcesOf(site)) {
    hasher.update(`\n${file}\n`);
    hasher.update(readFileSync(join(site.folder, file)));
  }
  return hasher.digest('hex');
}
