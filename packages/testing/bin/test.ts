// `bun run test [path …]`: sets everything up by itself, runs everything, ends with `N passed, N failed`.
// Imports nothing but what Bun ships: on a fresh clone it runs before anything is installed.
import { chmodSync, existsSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { ensureDashboard } from '../../../apps/gateway/bin/ensure-dashboard';
import { ensureInstalled, ROOT } from '../../../apps/gateway/bin/ensure-installed';
import { FOLDER_VARIABLE, removeFolder, temporaryFolder } from '../stores/server-process';
import { type StartedStores, type Store, startTestStores, type TestStores } from '../stores/start-test-stores';
import type { TestCounts } from './count-tests';
import { choose, type PlannedFile, planTests } from './plan-tests';
import { lookAgain, Running, runCheck, runTests, Tally, type TestStage } from './run-stage';
import { readTestOptions, type TestOptions, USAGE } from './test-options';
import { writeTimings } from './test-timings';
import { watchSources } from './watch-sources';

const GUARD_MS = 45 * 60_000;
/** Each has a Redis and an embedded Postgres of its own. */
const MOST_WORKERS = 6;
const MEMORY_OF_STORES = 4 * 1024 ** 3;
/** onnxruntime reads the command line by a regular expression: a longer one overflows the stack of the model's thread. */
const MOST_FILES = 100;
/** What was checked before is not checked again until it changes. Several threads check much of it several times. */
const TYPES = [
  'tsc',
  '--noEmit',
  '--singleThreaded',
  '--incremental',
  '--tsBuildInfoFile',
  'node_modules/.cache/llm0-types.json',
];

const options = readOptionsOrExit();
const tally = new Tally();
const running = new Running();
/** Milliseconds of each file that ran. */
const took = new Map<string, number>();
/** Those that are being started as well: an early end leaves nothing behind. */
const starting: Promise<StartedStores>[] = [];
process.env[FOLDER_VARIABLE] = folderInMemory();
const folder = temporaryFolder('test');
process.env[FOLDER_VARIABLE] = folder;
// Servers that run as nobody keep their folders in it.
chmodSync(folder, 0o711);

let finishing: Promise<never> | undefined;
const guard = setTimeout(() => {
  console.error(`the tests were not done within ${GUARD_MS / 60_000} minutes`);
  tally.failed++;
  void finish();
}, GUARD_MS);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (!options.watch) tally.failed++;
    void finish();
  });
}

try {
  if (!(await ensureInstalled('all'))) throw new Error('installing the dependencies failed');
  if (options.watch) {
    clearTimeout(guard);
    await watch(options);
  } else await runOnce(options);
} catch (error) {
  tally.failed++;
  console.error(error instanceof Error ? error.message : error);
}
await finish();

/** Where it has room for all stores of a run: a database is a thousand files, which take a disk up to a second. */
function folderInMemory(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return '';
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= MEMORY_OF_STORES ? memory : '';
}

async function runOnce({ paths, unitOnly, all }: TestOptions): Promise<void> {
  const named = planTests(ROOT, choose(paths, ROOT));
  const inLane = all ? named : dailyOf(named);
  const files = unitOnly ? inLane.filter(({ isUnit }) => isUnit) : inLane;
  if (files.length === 0) throw new Error(`no ${unitOnly ? 'unit ' : ''}test file has this in its path: ${paths}`);
  const ran = new Set<string>();
  const isWhole = paths.length === 0 && !unitOnly;
  await Promise.all([...(isWhole ? [checkAll()] : []), unitOnly ? runUnit(files, ran) : runFiles(files, ran)]);
  // A run by name leaves files without any test on purpose.
  if (running.isEnding || options.name !== undefined) return;
  for (const { path } of files.filter((file) => !ran.has(file.path))) {
    console.log(`not run, counted as failed: ${path}`);
    tally.failed++;
  }
  if (isWhole && tally.failed === 0) writeTimings(took, (path) => named.some((file) => file.path === path));
}

/** Without the nightly ones, unless nothing else was named. */
function dailyOf(files: readonly PlannedFile[]): readonly PlannedFile[] {
  const daily = files.filter(({ isNightly }) => !isNightly);
  return daily.length === 0 ? files : daily;
}

async function checkAll(): Promise<void> {
  tally.add(await runCheck('types', TYPES, running));
  tally.add(await runCheck('lint', ['biome', 'check', '.'], running));
}

async function runUnit(files: readonly PlannedFile[], ran: Set<string>): Promise<void> {
  await run({ name: 'unit tests', workers: countWorkers(files), stores: [] }, files, ran);
}

async function runFiles(files: readonly PlannedFile[], ran: Set<string>): Promise<void> {
  const daily = files.filter(({ isNightly }) => !isNightly);
  const nightly = files.filter(({ isNightly, isMeasuring }) => isNightly && !isMeasuring);
  const measuring = files.filter(({ isMeasuring }) => isMeasuring);
  const isSplit = files.length === 1 && files[0]?.isOnBothKinds === true && !files[0].isMeasuring && !hasGivenStores();
  const workers = isSplit ? 2 : countWorkers([...daily, ...nightly]);
  const needs = new Set(files.flatMap((file) => [...file.stores]));
  const [{ stores, missing }] = await Promise.all([startStores(needs, workers), buildDashboard(files)]);
  if (missing !== null) console.log(`Postgres: PGlite alone is tested, ${missing}`);
  if (isSplit && options.name === undefined) return runKinds(stores, files, ran);
  await runBeside({ name: 'tests', workers, stores }, daily, ran);
  await runBeside({ name: 'nightly tests', workers, stores, isNightly: true }, nightly, ran);
  // Nothing else runs beside them.
  if (measuring.length > 0 && !running.isEnding)
    await run({ name: 'measuring tests', workers: 1, stores, isNightly: true, isMeasuring: true }, measuring, ran);
}

/** A file by itself: each kind of stores in a process of its own, of which one has all other tests. */
async function runKinds(stores: readonly TestStores[], files: readonly PlannedFile[], ran: Set<string>): Promise<void> {
  const { all } = options;
  const isNightly = files.some((file) => file.isNightly);
  const [embedded, real] = stores.map((own) => ({
    workers: 1,
    stores: [own],
    files: pathsOf(files),
    folder,
    all,
    isNightly,
  }));
  if (embedded === undefined || real === undefined) throw new Error('two processes have stores of their own');
  const counts = await Promise.all([
    runTests({ ...real, name: 'tests', kind: 'real' }, tally, running),
    runTests({ ...embedded, name: 'tests', kind: 'embedded', namePattern: 'embedded stores' }, tally, running),
  ]);
  for (const path of counts.flatMap((one) => [...one.files.keys()])) ran.add(path);
}

/** Several files at a time. */
async function runBeside(stage: StageOfRun, files: readonly PlannedFile[], ran: Set<string>): Promise<void> {
  if (files.length === 0 || running.isEnding) return;
  const counts = await run(stage, files, ran);
  if (stage.workers > availableParallelism()) await lookAgain({ ...stage, files: [], folder }, counts, tally, running);
}

async function startStores(needs: ReadonlySet<Store>, processes: number): Promise<StartedStores> {
  const started = startTestStores(needs, processes);
  starting.push(started);
  return started;
}

/** Once for all files that would do it themselves. */
async function buildDashboard(files: readonly PlannedFile[]): Promise<void> {
  const builds = files.some(({ loads, isUnit }) => !isUnit && loads.has('apps/dashboard/testing/open-browser.ts'));
  if (builds && !(await ensureDashboard())) throw new Error('the dashboard could not be built');
}

function pathsOf(files: readonly PlannedFile[]): readonly string[] {
  return files.map(({ path }) => path);
}

type StageOfRun = Omit<TestStage, 'files' | 'folder' | 'namePattern' | 'all'>;

async function run(stage: StageOfRun, files: readonly PlannedFile[], ran: Set<string>): Promise<TestCounts> {
  const { name: namePattern, all } = options;
  // Of several workers, none has the files in its command line.
  const atOnce = stage.workers === 1 ? Math.min(MOST_FILES, files.length) : files.length;
  const paths = pathsOf(files.slice(0, atOnce));
  const counts = await runTests({ ...stage, files: paths, folder, namePattern, all }, tally, running);
  for (const path of counts.files.keys()) ran.add(path);
  for (const [path, ms] of counts.files) took.set(path, ms);
  const rest = files.slice(atOnce);
  return rest.length === 0 || running.isEnding ? counts : run(stage, rest, ran);
}

function hasGivenStores(): boolean {
  return Boolean(process.env.TEST_REDIS_URL || process.env.TEST_DATABASE_URL);
}

/** Most tests wait for much of their time, so two processes share a core well. */
function countWorkers(files: readonly PlannedFile[]): number {
  // Stores that were given are for one process alone.
  if (!options.unitOnly && hasGivenStores()) return 1;
  const workers = options.workers ?? Math.min(MOST_WORKERS, 2 * availableParallelism());
  return Math.max(1, Math.min(workers, files.length));
}

/** Unit tests, all of them once, then those that load what has changed. */
async function watch({ paths }: TestOptions): Promise<void> {
  const plan = () => planTests(ROOT, choose(paths, ROOT)).filter(({ isUnit, isNightly }) => isUnit && !isNightly);
  const runSome = async (files: readonly PlannedFile[]) => {
    const before = { passed: tally.passed, failed: tally.failed };
    await runUnit(files, new Set());
    console.log(`${tally.passed - before.passed} passed, ${tally.failed - before.failed} failed; waiting for changes`);
  };
  const changes = watchSources(ROOT);
  await runSome(plan());
  for await (const changed of changes) {
    if (running.isEnding) return;
    const affected = plan().filter(({ loads }) => changed.some((path) => loads.has(path)));
    console.log(`changed: ${changed.join(' ')}`);
    if (affected.length > 0) await runSome(affected);
  }
}

/** Once: a signal ends the run, and the run's own end must not exit before the stores have stopped. */
function finish(): Promise<never> {
  finishing ??= stopAll();
  return finishing;
}

async function stopAll(): Promise<never> {
  clearTimeout(guard);
  running.kill();
  await Promise.allSettled(starting.map(async (one) => (await one).stop()));
  removeFolder(folder);
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  process.exit(tally.failed === 0 ? 0 : 1);
}

function readOptionsOrExit(): TestOptions {
  try {
    const read = readTestOptions(process.argv.slice(2));
    if (!read.help) return read;
    console.log(USAGE);
    process.exit(0);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
}
