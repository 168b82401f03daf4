// Imports nothing but what Bun ships: it runs before anything is installed.
import { join } from 'node:path';
import { ensureDashboard } from './ensure-dashboard';
import { ensureInstalled, ROOT } from './ensure-installed';
import { RUNTIME_ENVIRONMENT } from './runtime-environment';

const PARENT_CHECK_MS = 250;

/** Installs what is stale, then runs the gateway until it ends, and builds the dashboard beside it; resolves to its exit code. */
export async function runGateway(bunFlags: readonly string[]): Promise<number> {
  if (!ensureInstalled()) {
    console.error('installing the dependencies failed');
    return 1;
  }
  // Beside the start, which need not wait: a plain page stands in until the dashboard is there.
  void ensureDashboard().then((isBuilt) => {
    if (!isBuilt) console.error('building the dashboard failed; the gateway works without it');
  });
  // --no-orphans: the gateway never outlives this process, not even a kill -9 of it, and so frees port and data folder.
  const child = Bun.spawn(
    [process.execPath, '--no-orphans', ...bunFlags, join(ROOT, 'apps/gateway/src/main.ts'), ...process.argv.slice(2)],
    {
      cwd: ROOT,
      stdio: ['inherit', 'inherit', 'inherit'],
      env: { ...RUNTIME_ENVIRONMENT, ...process.env },
    },
  );
  // On a terminal Ctrl-C reaches the gateway by itself; a second one would look like impatience.
  process.on('SIGINT', () => {
    if (!process.stdin.isTTY) child.kill('SIGINT');
  });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGHUP', () => child.kill('SIGTERM'));
  process.on('SIGUSR2', () => child.kill('SIGUSR2'));
  const timer = followScriptRunner(() => child.kill('SIGKILL'));
  try {
    const code = await child.exited;
    return child.signalCode === null ? code : 1;
  } finally {
    clearInterval(timer);
  }
}

/** Under `bun start` the parent is Bun's script runner: when that is killed outright, so is the gateway. */
function followScriptRunner(onGone: () => void): Timer | undefined {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  const parent = process.ppid;
  return setInterval(() => {
    if (process.ppid !== parent) onGone();
  }, PARENT_CHECK_MS);
}
