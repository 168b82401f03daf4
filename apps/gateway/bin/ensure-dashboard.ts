// Imports nothing but what Bun ships: it runs before anything is installed.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programEnvironment } from '../../../packages/core/src/threads/program-environment';
import { ROOT } from './ensure-installed';

const DASHBOARD = join(ROOT, 'apps/dashboard');
const DIST = join(DASHBOARD, 'dist');
const STAMP = '.stamp';
/** Followed by the id of the process that builds there. */
const HALF_BUILT = '.dist-';
const SOURCES = ['package.json', '*.html', '*.ts', 'src/**/*', 'public/**/*'].map((pattern) => new Bun.Glob(pattern));

/**
 * Builds the dashboard when its sources changed since the last build; false when that failed. The build appears as a
 * whole: until then the one before is served.
 */
export async function ensureDashboard(): Promise<boolean> {
  const wanted = hashSources();
  const stamp = join(DIST, STAMP);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return true;
  console.error('building the dashboard (once, beside the start)');
  removeHalfBuilt(DASHBOARD);
  const fresh = join(DASHBOARD, `${HALF_BUILT}${process.pid}`);
  try {
    // The bundle must be React's production one, whatever this process is.
    const build = Bun.spawn([process.execPath, '--no-env-file', 'run', 'build', '--outDir', fresh], {
      cwd: DASHBOARD,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...programEnvironment(process.env), NODE_ENV: 'production' },
    });
    if ((await build.exited) !== 0) return false;
    writeFileSync(join(fresh, STAMP), wanted);
    rmSync(DIST, { recursive: true, force: true });
    renameSync(fresh, DIST);
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

/** Everything a build depends on, besides the lock file; paths from the dashboard's folder. */
export function dashboardSources(): readonly string[] {
  const files = SOURCES.flatMap((pattern) => [...pattern.scanSync({ cwd: DASHBOARD, onlyFiles: true })]);
  return files.filter((file) => !/\.test\.tsx?$/.test(file)).sort();
}

function hashSources(): string {
  const hasher = new Bun.CryptoHasher('sha256');
  hasher.update(readFileSync(join(ROOT, 'bun.lock')));
  for (const file of dashboardSources()) {
    hasher.update(`\n${file}\n`);
    hasher.update(readFileSync(join(DASHBOARD, file)));
  }
  return hasher.digest('hex');
}
