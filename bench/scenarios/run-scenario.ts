import { askChat } from '../load/ask-chat';
import type { LoadJob } from '../load/load-job';
import { TAUGHT } from '../load/make-request';
import { load } from '../load/start-load';
import { readServerSide } from '../read-server-side';
import type { Row, Trial } from '../report/rows';
import type { BenchWorld, Target } from '../start-bench';
import { measureLoad } from './measure-load';
import type { RateStep, Scenario } from './scenarios';

const MEMORY_EVERY_MS = 100;
const LATER_WARM_UP_SECONDS = 1;

export interface Measurement {
  readonly scenario: Scenario;
  readonly target: Target;
  readonly connections: number;
  /** Several keys instead of the target's own. */
  readonly callers?: LoadJob['callers'];
}

/** All targets of a scenario in turn, as often as there are trials; one row a target and step. */
export async function runScenario(world: BenchWorld, scenario: Scenario, connections: number): Promise<Row[]> {
  const targets = world.targets.filter(({ kind }) => scenario.targets.includes(kind));
  const measurements = targets.map((target) => ({ scenario, target, connections }));
  if (scenario.key === 'semantic') await teach(targets);
  return measureInTurn(world, measurements);
}

/** Interleaves the trials, so that a slow minute of the machine hits everybody. */
export async function measureInTurn(world: BenchWorld, measurements: readonly Measurement[]): Promise<Row[]> {
  const collected = measurements.map((measurement) => ({
    measurement,
    steps: stepsOf(world, measurement).map((step) => ({ step, trials: [] as Trial[] })),
  }));
  for (let trial = 0; trial < world.options.trials; trial++) {
    for (const { measurement, steps } of collected) {
      await warmUp(world, measurement, trial === 0);
      for (const { step, trials } of steps) trials.push(await measure(world, measurement, step));
    }
  }
  const rows: Row[] = [];
  for (const { measurement, steps } of collected) {
    for (const { step, trials } of steps) rows.push(await toRow(world, measurement, step, trials));
  }
  return rows;
}

/** One step without a rate for what goes as fast as it can. */
function stepsOf({ options }: BenchWorld, { scenario }: Measurement): readonly (RateStep | undefined)[] {
  if (scenario.steps !== undefined) return scenario.steps;
  return [options.rate === undefined ? undefined : { label: `at ${options.rate}`, rate: options.rate }];
}

function jobOf(measurement: Measurement, seconds: number): LoadJob {
  const { scenario, target, connections } = measurement;
  const { model, keys, headers } = target;
  return {
    url: target.url,
    callers: measurement.callers ?? { type: 'one', apiKey: keys[scenario.key] },
    ...(headers === undefined ? {} : { headers }),
    connections,
    seconds,
    requests: model === undefined ? scenario.requests : scenario.requests.map((shape) => ({ ...shape, model })),
    expectStatus: target.kind === 'gateway' ? scenario.expectStatus : 200,
  };
}

async function warmUp({ options }: BenchWorld, measurement: Measurement, isFirst: boolean): Promise<void> {
  const seconds = isFirst ? options.warmUpSeconds : Math.min(options.warmUpSeconds, LATER_WARM_UP_SECONDS);
  if (seconds > 0) await load(jobOf(measurement, seconds));
}

async function measure(world: BenchWorld, measurement: Measurement, step: RateStep | undefined): Promise<Trial> {
  const { scenario, target } = measurement;
  const job = { ...jobOf(measurement, world.options.seconds ?? scenario.seconds), rate: step?.rate };
  const { trial } = await measureLoad(world, job, { pid: target.pid, everyMs: MEMORY_EVERY_MS });
  return trial;
}

async function toRow(
  world: BenchWorld,
  { scenario, target, connections }: Measurement,
  step: RateStep | undefined,
  trials: readonly Trial[],
): Promise<Row> {
  const isOurs = target.kind === 'gateway' && world.gateway !== undefined;
  const server = isOurs && world.gateway !== undefined ? await readServerSide(world.gateway, trials) : undefined;
  const process = Object.entries(world.processes).find(([, pid]) => pid === target.pid)?.[0];
  return {
    scenario: step === undefined ? scenario.name : `${scenario.name} ${step.label}`,
    target: target.name,
    connections,
    ...(step === undefined ? {} : { rate: step.rate }),
    ...(process === undefined ? {} : { process }),
    trials,
    ...(server === undefined ? {} : { server }),
  };
}

const TEACH_ATTEMPTS = 100;
const TEACH_PAUSE_MS = 200;

/** Asks the one wording until another one is answered from the semantic cache: the first texts load the model. */
async function teach(targets: readonly Target[]): Promise<void> {
  const ours = targets.find(({ kind }) => kind === 'gateway');
  if (ours === undefined) return;
  const ask = async (content: string) =>
    (await askChat(ours.url, ours.keys.semantic, content)).headers.get('x-cache-hit');
  for (let attempt = 0; attempt < TEACH_ATTEMPTS; attempt++) {
    await ask(TAUGHT);
    // Another exact key each time: no attempt is answered by the one before.
    if ((await ask(TAUGHT.replace(' ', ' '.repeat(attempt + 4)))) === 'semantic') return;
    await Bun.sleep(TEACH_PAUSE_MS);
  }
  throw new Error('the semantic cache did not answer: is its model loaded, and pgvector there?');
}
