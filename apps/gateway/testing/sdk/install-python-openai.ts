import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../start-postgres';

/** The official SDK: https://pypi.org/project/openai/ */
const REQUIREMENT = 'openai==3.54.0';

/** Python with the official SDK on its path. */
export interface PythonSdk {
  readonly python: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Installs the SDK into a folder kept between runs; throws, saying what is missing, when it can't be had. */
export async function installPythonOpenai(): Promise<PythonSdk> {
  const python = Bun.which('python3') ?? Bun.which('python');
  if (python === null) throw new Error('Python 3 is needed to test its OpenAI SDK: install python3 with pip');
  const folder = join(cacheFolder(), `python-${REQUIREMENT.replace('==', '-')}`);
  if (!existsSync(join(folder, 'openai'))) {
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
      REQUIREMENT,
    ];
    const pip = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe' });
    const problem = await new Response(pip.stderr).text();
    if ((await pip.exited) !== 0) {
      rmSync(half, { recursive: true, force: true });
      throw new Error(`pip could not install ${REQUIREMENT}: ${problem.trim().split('\n').at(-1)}`);
    }
    rmSync(folder, { recursive: true, force: true });
    renameSync(half, folder);
  }
  return { python, env: { PATH: process.env.PATH ?? '', PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' } };
}
