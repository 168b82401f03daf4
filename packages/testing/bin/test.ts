// `bun run test [path …]`: sets everything up by itself, runs everything, ends with `N passed, N failed`.
// Imports nothing but what Bun ships: on a fresh clone it runs before anything is installed.
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Glob } from 'bun';
import { ensureInstalled, ROOT } from '../../../apps/gateway/bin/ensure-installed';
import { FOLDER_VARIABLE, removeFolder, STORES_VARIABLE, temporaryFolder } from '../stores/server-process';
import { startTestStores, type TestStores } from '../stores/start-test-stores';
import { countTests, type TestCounts } from './count-tests';
import { namesInEnvFile, testEnvironment } from './test-environment';

const GUARD_MS = 25 * 60_000;
const PER_TEST_MS = 60_000;
/** These hold answers to fractions of a second, which a busy machine cannot keep. */
const ALONE = ['packages/testing/e2e/stores-fail.e2e.test.ts'];
/** Milliseconds of each file (`bun test --timings … --update-timings`): the longest begin, so that no process idles at the end. */
const TIMINGS = join(import.meta.dir, 'test-timings.json');
const CHOOSE_STORES = join(import.meta.dir, '../stores/choose-stores.ts');

let passed = 0;
let failed = 0;
let reports = 0;
/** Those that are being started as well: an early end leaves nothing behind. */
const starting: Promise<TestStores>[] = [];
const stores: TestStores[] = [];
let isEnding = false;
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
  const workers = filters.length > 0 ? 1 : countWorkers();
  for (let worker = 0; worker < workers; worker++) {
    const started = startTestStores(stores[0]?.env.TEST_EMBEDDED_TEMPLATE);
    starting.push(started);
    stores.push(await started);
    if (isEnding) return;
  }
  const missing = stores[0]?.missing;
  if (missing !== null) console.log(`Postgres: PGlite alone is tested, ${missing}`);
  await runTests(filters);
}

/** Much of the time the tests wait, so two processes share a machine well; stores that were given are for one alone. */
function countWorkers(): number {
  return process.env.TEST_REDIS_URL || process.env.TEST_DATABASE_URL || availableParallelism() < 2 ? 1 : 2;
}

async function runStage(name: string, command: readonly string[]): Promise<void> {
  console.log(`stage: ${name}`);
  running = Bun.spawn([...command], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  if ((await running.exited) === 0) passed++;
  else failed++;
}

async function runTests(filters: readonly string[]): Promise<void> {
  if (filters.length > 0) {
    await runBunTest({ name: 'tests', arguments: filters });
    return;
  }
  const together = [`--parallel=${stores.length}`, '--no-isolate', `--timings=${TIMINGS}`];
  const others = ALONE.map((path) => `--path-ignore-patterns=${path}`);
  const first = await runBunTest({ name: `tests, ${stores.length} at a time`, arguments: [...together, ...others] });
  if (isEnding) return;
  const second = await runBunTest({ name: 'tests, alone', arguments: ALONE.map((path) => `./${path}`) });
  if (isEnding) return;
  for (const path of findTestFiles().filter((file) => !first.files.has(file) && !second.files.has(file))) {
    console.log(`not run, counted as failed: ${path}`);
    failed++;
  }
}

interface TestStage {
  readonly name: string;
  readonly arguments: readonly string[];
}

async function runBunTest(stage: TestStage): Promise<TestCounts> {
  console.log(`stage: ${stage.name}`);
  const report = join(folder, `junit-${++reports}.xml`);
  running = Bun.spawn(
    [
      ...[process.execPath, 'test', '--no-orphans', '--only-failures', `--timeout=${PER_TEST_MS}`],
      ...[`--preload=${CHOOSE_STORES}`, '--reporter=junit', `--reporter-outfile=${report}`],
      ...stage.arguments,
    ],
    { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'], env: environmentOfTests() },
  );
  const code = await running.exited;
  const counts = countTests(existsSync(report) ? readFileSync(report, 'utf8') : '');
  for (const name of counts.skipped) console.log(`skipped, counted as failed: ${name}`);
  passed += counts.passed;
  failed += counts.failed;
  if (code !== 0 && counts.failed === 0) {
    console.log(`bun test ended with code ${code} although no test failed: counted as one failure`);
    failed++;
  }
  return counts;
}

function environmentOfTests(): Record<string, string | undefined> {
  const envFiles = ['.env', '.env.test', '.env.local', '.env.test.local'].map((name) => join(ROOT, name));
  const names = envFiles.flatMap((path) => (existsSync(path) ? namesInEnvFile(readFileSync(path, 'utf8')) : []));
  return testEnvironment(process.env, names, {
    ...stores[0]?.env,
    [STORES_VARIABLE]: JSON.stringify(stores.map(({ env }) => env)),
    [FOLDER_VARIABLE]: folder,
  });
}

/** All that `bun test` looks for here, by another way than its own. */
function findTestFiles(): readonly string[] {
  const found = [...new Glob('**/*.test.{ts,tsx}').scanSync({ cwd: ROOT, onlyFiles: true })];
  return found.filter((path) => !path.includes('node_modules/'));
}

async function finish(): Promise<never> {
  isEnding = true;
  clearTimeout(guard);
  running?.kill('SIGKILL');
  await Promise.allSettled(starting.map(async (one) => (await one).stop()));
  removeFolder(folder);
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}
