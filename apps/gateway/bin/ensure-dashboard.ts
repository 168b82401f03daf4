// Imports nothing but what Bun ships: it runs before anything is installed.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './ensure-installed';

const DASHBOARD = join(ROOT, 'apps/dashboard');
const SOURCES = new Bun.Glob('{package.json,*.html,*.ts,src/**,public/**}');

/** Builds the dashboard when its sources changed since the last build. False when the build failed. */
export function ensureDashboard(): boolean {
  const manifest: unknown = JSON.parse(readFileSync(join(DASHBOARD, 'package.json'), 'utf8'));
  if (!hasBuildScript(manifest)) return true;
  const stamp = join(DASHBOARD, 'dist/.stamp');
  const wanted = hashSources();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return true;
  console.error('building the dashboard');
  const { exitCode } = Bun.spawnSync([process.execPath, 'run', 'build'], {
    cwd: DASHBOARD,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (exitCode !== 0) return false;
  writeFileSync(stamp, wanted);
  return true;
}

function hasBuildScript(manifest: unknown): boolean {
  if (manifest === null || typeof manifest !== 'object' || !('scripts' in manifest)) return false;
  const { scripts } = manifest;
  return scripts !== null && typeof scripts === 'object' && 'build' in scripts;
}

function hashSources(): string {
  const hasher = new Bun.CryptoHasher('sha256');
  hasher.update(readFileSync(join(ROOT, 'bun.lock')));
  for (const file of [...SOURCES.scanSync({ cwd: DASHBOARD, onlyFiles: true })].sort()) {
    hasher.update(`\n${file}\n`);
    hasher.update(readFileSync(join(DASHBOARD, file)));
  }
  return hasher.digest('hex');
}
