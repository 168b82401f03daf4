// `bun packages/testing/bin/with-all.ts <program> […]`: a program of the repository (a path) or of a dependency (a name), after
// everything is installed: `bun start` installs less. Imports nothing but what Bun ships.
import { resolve } from 'node:path';
import { ensureInstalled, ROOT } from '../../../apps/gateway/bin/ensure-installed';

const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error('usage: with-all.ts <program> […]');
if (!(await ensureInstalled('all'))) process.exit(1);
if (program.endsWith('.ts')) {
  process.argv.splice(1, 2, resolve(ROOT, program));
  await import(resolve(ROOT, program));
} else {
  const child = Bun.spawn([process.execPath, '--no-env-file', 'x', '--bun', '--no-install', program, ...args], {
    cwd: ROOT,
    stdio: ['inherit', 'inherit', 'inherit'],
  });
  process.exit(await child.exited);
}
