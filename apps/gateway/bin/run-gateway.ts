// Imports nothing but what Bun ships: it runs before anything is installed.
import { join } from 'node:path';
import { HangUps, readsFileOnHangUp } from '../src/process/signals';
import { ensureDashboard, ensureDocs } from './ensure-dashboard';
import { ensureInstalled, ROOT } from './ensure-installed';
import { followStarters } from './follow-starters';
import { RUNTIME_ENVIRONMENT } from './runtime-environment';
import { START_USAGE } from './start-usage';

/** Installs what is stale, then runs the gateway until it ends, and builds its sites beside it; resolves to its exit code. */
export async function runGateway(bunFlags: readonly string[]): Promise<number> {
  const args = process.argv.slice(2);
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    console.log(START_USAGE);
    return 0;
  }
  if (args.length > 0) {
    console.error(`unexpected argument "${args[0]}"\n\n${START_USAGE}`);
    return 2;
  }
  const hangUps = new HangUps();
  const readsFile = readsFileOnHangUp(process.env);
  if (readsFile) hangUps.take();
  if (!(await ensureInstalled('start'))) {
    console.error('installing the dependencies failed');
    return 1;
  }
  // --no-orphans: the gateway never outlives this process, not even a kill -9 of it, and so frees port and data folder.
  const main = join(ROOT, 'apps/gateway/src/main.ts');
  // --no-env-file: this process has read them already.
  const isUp = Promise.withResolvers<void>();
  const child = Bun.spawn([process.execPath, '--no-env-file', '--no-orphans', ...bunFlags, main], {
    cwd: ROOT,
    stdio: ['inherit', 'inherit', 'inherit'],
    env: { ...RUNTIME_ENVIRONMENT, ...process.env },
    ipc: () => isUp.resolve(),
  });
  const ended = new AbortController();
  // Once it serves: the first start of the embedded stores needs the memory for itself. A plain page stands in until then.
  const builds = isUp.promise.then(() => buildSites(ended.signal));
  // What reaches the whole process group reaches the gateway twice, which takes it for once.
  let isStopping = false;
  for (const signal of ['SIGINT', 'SIGTERM', ...(readsFile ? [] : (['SIGHUP'] as const))] as const) {
    process.on(signal, () => {
      isStopping = true;
      child.kill(signal);
    });
  }
  void isUp.promise.then(() => hangUps.answer(() => child.kill('SIGHUP')));
  process.on('SIGUSR2', () => child.kill('SIGUSR2'));
  // Starters that end some time after a signal end because of it: that is no second one.
  const stopFollowing = followStarters(() => {
    if (!isStopping) child.kill('SIGTERM');
  });
  try {
    const code = await child.exited;
    return child.signalCode === null ? code : 1;
  } finally {
    stopFollowing();
    ended.abort();
    isUp.resolve();
    await builds;
  }
}

/** One after the other. */
async function buildSites(ended: AbortSignal): Promise<void> {
  const sites = { dashboard: ensureDashboard, documentation: ensureDocs };
  for (const [name, ensure] of Object.entries(sites)) {
    if (ended.aborted || (await ensure(ended)) || ended.aborted) continue;
    console.error(`building the ${name} failed; the gateway works without it`);
  }
}
