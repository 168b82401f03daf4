import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../../apps/gateway/bin/ensure-installed';
import { ALL_VARIABLE, KIND_VARIABLE, NIGHTLY_VARIABLE } from '../lane';
import { FOLDER_VARIABLE, STORES_VARIABLE } from '../stores/server-process';
import type { TestStores } from '../stores/start-test-stores';
import { countTests, type TestCounts } from './count-tests';
import { MEASURED, namesInEnvFile, testEnvironment } from './test-environment';
import { TIMINGS } from './test-timings';

const PER_TEST_MS = 60_000;
const CHOOSE_STORES = join(import.meta.dir, '../stores/choose-stores.ts');
const TURN_THE_LOOP = join(import.meta.dir, 'turn-the-loop.ts');
const FORBID_SERVERS = join(import.meta.dir, '../stores/forbid-servers.ts');

/** What the stages of a run come to. */
export class Tally {
  passed = 0;
  failed = 0;

  add(isGood: boolean): void {
    if (isGood) this.passed++;
    else this.failed++;
  }
}

/** Processes under way, so that an early end can end them. */
export class Running {
  private readonly processes = new Set<Bun.Subprocess>();
  isEnding = false;

  async wait(process: Bun.Subprocess): Promise<number> {
    if (this.isEnding) process.kill('SIGKILL');
    this.processes.add(process);
    const code = await process.exited;
    this.processes.delete(process);
    return code;
  }

  kill(): void {
    this.isEnding = true;
    for (const process of this.processes) process.kill('SIGKILL');
  }
}

/** A check that is one command: passed where it ends with 0. Less urgent than tests, which may run beside it. */
export async function runCheck(name: string, command: readonly string[], running: Running): Promise<boolean> {
  const startMs = performance.now();
  const nice = Bun.which('nice') === null ? [] : ['nice', '-n', '10'];
  const child = Bun.spawn([...nice, process.execPath, '--no-env-file', 'x', '--bun', '--no-install', ...command], {
    // The compiler keeps nearly all it allocates: collecting takes a quarter of its time and frees little.
    env: { ...process.env, GOGC: 'off', GOMEMLIMIT: '5GiB' },
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const isGood = (await running.wait(child)) === 0;
  console.log(`stage: ${name}, ${seconds(startMs)}${isGood ? '' : ', failed'}`);
  return isGood;
}

export interface TestStage {
  readonly name: string;
  readonly files: readonly string[];
  readonly workers: number;
  /** One for each worker, or one for all; none = the tests can start nothing. */
  readonly stores: readonly TestStores[];
  readonly folder: string;
  readonly namePattern?: string | undefined;
  /** Loops that the daily lane samples run in full. */
  readonly all?: boolean;
  readonly isNightly?: boolean;
  readonly isMeasuring?: boolean;
  /** Of the stores, in a file on both kinds; absent = both. */
  readonly kind?: 'embedded' | 'real';
}

let reports = 0;

/** Runs files by `bun test` and counts what it reports. */
export async function runTests(stage: TestStage, tally: Tally, running: Running): Promise<TestCounts> {
  const startMs = performance.now();
  console.log(`stage: ${stage.name}, ${stage.files.length} files, ${stage.workers} at a time`);
  const report = join(stage.folder, `junit-${++reports}.xml`);
  const child = Bun.spawn([process.execPath, '--no-env-file', 'test', ...argumentsOf(stage, report)], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: environmentOf(stage),
  });
  const code = await running.wait(child);
  const counts = countTests(existsSync(report) ? readFileSync(report, 'utf8') : '');
  // Where one test is asked for by name, `bun test` calls all others skipped.
  const skipped = stage.namePattern === undefined ? counts.skipped : [];
  for (const name of skipped) console.log(`skipped, counted as failed: ${name}`);
  const failed = counts.failed - (counts.skipped.length - skipped.length);
  tally.passed += counts.passed;
  tally.failed += failed;
  if (code !== 0 && failed === 0) {
    console.log(`bun test ended with code ${code} although no test failed: counted as one failure`);
    tally.failed++;
  }
  console.log(`stage: ${stage.name}, ${seconds(startMs)}`);
  return counts;
}

/** More than these are no matter of a machine that has too much to do. */
const MOST_LOOKED_AT = 5;

/**
 * Files that failed beside twice as many as there are cores, once more and alone: what fails again has failed. What
 * passes then is named, since it is a defect of the test or of the code all the same.
 */
export async function lookAgain(stage: TestStage, first: TestCounts, tally: Tally, running: Running): Promise<void> {
  const files = [...first.broken.keys()];
  if (files.length === 0 || files.length > MOST_LOOKED_AT || running.isEnding) return;
  const second = new Tally();
  const counts = await runTests({ ...stage, name: 'tests, a second look', files, workers: 1 }, second, running);
  tally.passed += second.passed;
  tally.failed += second.failed;
  for (const [path, { passed, failures }] of first.broken) {
    tally.passed -= passed;
    tally.failed -= failures.length;
    const again = new Set(counts.broken.get(path)?.failures);
    for (const name of failures.filter((one) => !again.has(one)))
      console.log(`unsteady: ${path}: "${name}" failed beside others and passed alone`);
  }
}

function argumentsOf(stage: TestStage, report: string): readonly string[] {
  const preload = stage.stores.length === 0 ? FORBID_SERVERS : CHOOSE_STORES;
  return [
    ...['--no-orphans', '--only-failures', `--timeout=${PER_TEST_MS}`],
    ...[`--preload=${preload}`, `--preload=${TURN_THE_LOOP}`],
    ...['--reporter=junit', `--reporter-outfile=${report}`],
    ...(stage.workers > 1 ? [`--parallel=${stage.workers}`, '--no-isolate', `--timings=${TIMINGS}`] : []),
    ...(stage.namePattern === undefined ? [] : [`--test-name-pattern=${stage.namePattern}`]),
    ...stage.files.map((path) => `./${path}`),
  ];
}

function environmentOf({
  stores,
  folder,
  all,
  isNightly,
  isMeasuring,
  kind,
}: TestStage): Record<string, string | undefined> {
  const envFiles = ['.env', '.env.test', '.env.local', '.env.test.local'].map((name) => join(ROOT, name));
  const names = envFiles.flatMap((path) => (existsSync(path) ? namesInEnvFile(readFileSync(path, 'utf8')) : []));
  return testEnvironment(process.env, names, {
    ...(stores.length === 0 ? { TEST_REDIS_URL: '', TEST_DATABASE_URL: '' } : stores[0]?.env),
    [STORES_VARIABLE]: stores.length === 0 ? '' : JSON.stringify(stores.map(({ env }) => env)),
    [FOLDER_VARIABLE]: folder,
    TMPDIR: folder,
    [ALL_VARIABLE]: all === true ? '1' : '',
    [NIGHTLY_VARIABLE]: isNightly === true ? '1' : '',
    ...(kind === undefined ? {} : { [KIND_VARIABLE]: kind }),
    ...(isMeasuring === true ? MEASURED : {}),
  });
}

export const seconds = (startMs: number) => `${((performance.now() - startMs) / 1000).toFixed(1)} s`;
