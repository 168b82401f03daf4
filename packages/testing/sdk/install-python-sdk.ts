import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expectNightly } from '../lane';
import { cacheFolder } from '../stores/start-postgres';

/** Python with an official SDK on its path. */
export interface PythonSdk {
  readonly python: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Installs the SDK (`name==version` of the package index) into a folder kept between runs; throws, saying what is missing, when it can't be had. */
export async function installPythonSdk(requirement: `${string}==${string}`): Promise<PythonSdk> {
  expectNightly(requirement);
  const [name = ''] = requirement.split('==');
  const python = Bun.which('python3') ?? Bun.which('python');
  if (python === null) throw new Error('Python 3 is needed to test its SDKs: install python3 with pip');
  const folder = join(cacheFolder(), `python-${requirement.replace('==', '-')}`);
  if (!existsSync(join(folder, name))) {
    // Moved into place as a whole, so that an interrupted installation is never taken for one.
    const half = `${folder}.${process.pid}`;
    const command = [
      python,
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--target',
      half,
      requirement,
    ];
    const pip = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' });
    const problem = await new Response(pip.stderr).text();
    if ((await pip.exited) !== 0) {
      rmSync(half, { recursive: true, force: true });
      throw new Error(`pip could not install ${requirement}: ${problem.trim().split('\n').at(-1)}`);
    }
    rmSync(folder, { recursive: true, force: true });
    renameSync(half, folder);
  }
  return { python, env: { PATH: process.env.PATH ?? '', PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' } };
}
