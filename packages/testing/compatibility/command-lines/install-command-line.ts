import { existsSync, renameSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expectNightly } from '../../lane';
import { cacheFolder } from '../../stores/start-postgres';

/** Installs a package of npm into a folder kept between runs, without running its scripts; throws when it can't be had. */
export async function installCommandLine(requirement: `${string}@${string}`): Promise<string> {
  expectNightly(requirement);
  const folder = join(cacheFolder(), `npm-${requirement.replace(/[^\w.-]+/g, '-')}`);
  if (existsSync(folder)) return folder;
  // Moved into place as a whole, so that an interrupted installation is never taken for one.
  const half = `${folder}.${process.pid}`;
  await mkdir(half, { recursive: true });
  await Bun.write(join(half, 'package.json'), '{"private":true}');
  const command = [process.execPath, '--no-env-file', 'add', '--exact', '--ignore-scripts', '--cwd', half, requirement];
  const bun = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' });
  const problem = await new Response(bun.stderr).text();
  if ((await bun.exited) !== 0) {
    rmSync(half, { recursive: true, force: true });
    throw new Error(`${requirement} could not be installed: ${problem.trim().split('\n').at(-1)}`);
  }
  try {
    renameSync(half, folder);
  } catch (error) {
    rmSync(half, { recursive: true, force: true });
    // Another worker was faster.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
