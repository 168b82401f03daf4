// Imports nothing but what Bun ships: the test command runs before anything is installed.
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** The unprivileged account servers run as where they refuse to run as root. */
export const NOBODY = 65_534;
export const isRoot = process.getuid?.() === 0;

/** A server of the tests' own, on 127.0.0.1. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Ends the process by its pid and removes its folder. Idempotent. */
  stop(): Promise<void>;
}

/** The server can't be had here; the message says what to install. */
export class CannotStartError extends Error {}

export async function freePort(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const probe = createServer();
  probe.once('error', reject);
  probe.listen(0, '127.0.0.1', () => {
    const address = probe.address();
    probe.close(() =>
      address !== null && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port')),
    );
  });
  return promise;
}

/** Where the test command gathers its folders, so that it can remove them all, whatever became of the tests. */
export const FOLDER_VARIABLE = 'LLM0_TEST_FOLDER';

/** JSON of the stores of each test process, where several run side by side. */
export const STORES_VARIABLE = 'LLM0_TEST_STORES';

/** A folder under /tmp (a short path, outside root's home); with `owner`, belonging to that account. */
export function temporaryFolder(name: string, owner?: number): string {
  const folder = mkdtempSync(join(process.env[FOLDER_VARIABLE] || '/tmp', `llm0-${name}-`));
  chmodSync(folder, 0o700);
  if (owner !== undefined) chownSync(folder, owner, owner);
  return folder;
}

export const removeFolder = (folder: string) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });

/** Asks with `signal`, insists with SIGKILL after 5 s. */
export async function endProcess(child: Bun.Subprocess, signal: 'SIGTERM' | 'SIGINT'): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await child.exited;
  clearTimeout(timer);
}

/** Polls until `isReady`; throws when the process ended or the time is over. */
export async function waitUntilReady(
  name: string,
  child: Bun.Subprocess,
  isReady: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    if (await isReady()) return;
    if (child.exitCode !== null) throw new Error(`${name} ended with code ${child.exitCode} while starting`);
    await Bun.sleep(30);
  }
  throw new Error(`${name} was not ready within 30 s`);
}

/** Runs a command to its end; its output as text. */
export async function runCommand(command: readonly string[], env?: Record<string, string>) {
  const child = Bun.spawn([...command], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, ...env },
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout: stdout.trim(), stderr: stderr.trim() };
}

/** Installs Debian packages where that is allowed: as root, or on CI with passwordless sudo. False when it is not. */
export async function installPackages(names: readonly string[]): Promise<boolean> {
  if (process.platform !== 'linux' || Bun.which('apt-get') === null) return false;
  const sudo = isRoot ? [] : ['sudo', '-n'];
  if (!isRoot && (process.env.CI === undefined || Bun.which('sudo') === null)) return false;
  console.error(`installing ${names.join(', ')} with apt-get`);
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const install = [...sudo, 'apt-get', 'install', '-y', '--no-install-recommends', ...names];
  if ((await runCommand(install, env)).code === 0) return true;
  await runCommand([...sudo, 'apt-get', 'update'], env);
  return (await runCommand(install, env)).code === 0;
}
