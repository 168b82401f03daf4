// `bun run test [path …]`: sets everything up by itself, runs everything, ends with `N passed, N failed`.
// Imports nothing but what Bun ships: on a fresh clone it runs before anything is installed.
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FOLDER_VARIABLE, removeFolder, temporaryFolder } from '../testing/server-process';
import { startTestStores, type TestStores } from '../testing/start-test-stores';
import { countTests } from './count-tests';
import { ensureInstalled, ROOT } from './ensure-installed';
import { namesInEnvFile, testEnvironment } from './test-environment';

const GUARD_MS = 25 * 60_000;
const PER_TEST_MS = 60_000;

let passed = 0;
let failed = 0;
let stores: TestStores | undefined;
let running: Bun.Subprocess | undefined;
const folder = temporaryFolder('test');
// Servers that run as nobody keep their folders in it.
chmodSync(folder, 0o711);

const guard = setTimeout(() => {
  console.error(`the tests were not done within ${GUARD_MS / 60_000} minutes`);
  failed++;
  void finish();
}, GUARD_MS);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    failed++;
    void finish();
  });
}

try {
  await runAll();
} catch (error) {
  failed++;
  console.error(error instanceof Error ? error.message : error);
}
await finish();

async function runAll(): Promise<void> {
  if (!ensureInstalled()) throw new Error('installing the dependencies failed');
  const filters = process.argv.slice(2);
  if (filters.length === 0) {
    await runStage('types', [process.execPath, 'x', '--bun', '--no-install', 'tsc', '--noEmit']);
    await runStage('lint', [process.execPath, 'x', '--bun', '--no-install', 'biome', 'check', '.']);
  }
  stores = await startTestStores();
  if (stores.missing !== null) console.log(`Postgres: PGlite alone is tested, ${stores.missing}`);
  await runTests(filters, stores.env);
}

async function runStage(name: string, command: readonly string[]): Promise<void> {
  console.log(`stage: ${name}`);
  running = Bun.spawn([...command], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if ((await running.exited) === 0) passed++;
  else failed++;
}

async function runTests(filters: readonly string[], storeEnv: Readonly<Record<string, string>>): Promise<void> {
  console.log('stage: tests');
  const report = join(folder, 'junit.xml');
  const envFiles = ['.env', '.env.test', '.env.local', '.env.test.local'].map((name) => join(ROOT, name));
  const names = envFiles.flatMap((path) => (existsSync(path) ? namesInEnvFile(readFileSync(path, 'utf8')) : []));
  running = Bun.spawn(
    [
      ...[process.execPath, 'test', '--no-orphans', '--only-failures', `--timeout=${PER_TEST_MS}`],
      ...['--reporter=junit', `--reporter-outfile=${report}`],
      ...filters,
    ],
    {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: testEnvironment(process.env, names, { ...storeEnv, [FOLDER_VARIABLE]: folder }),
    },
  );
  const code = await running.exited;
  const counts = existsSync(report) ? countTests(readFileSync(report, 'utf8')) : { passed: 0, failed: 0, skipped: [] };
  for (const name of counts.skipped) console.log(`skipped, counted as failed: ${name}`);
  passed += counts.passed;
  failed += counts.failed;
  if (code !== 0 && counts.failed === 0) {
    console.log(`bun test ended with code ${code} although no test failed: counted as one failure`);
    failed++;
  }
}

async function finish(): Promise<never> {
  clearTimeout(guard);
  running?.kill('SIGKILL');
  await stores?.stop();
  removeFolder(folder);
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}
