// `bun run bench [scenario…]`: starts stores, upstream, floor and gateway by itself, loads them in turn, prints a report.
import { callAdmin } from '@llm0/testing/stores/start-gateway';
import { describeMachine } from './machine/describe-machine';
import { readServerVersions } from './machine/read-server-versions';
import { BenchOptionError, type BenchOptions, optionHelp, parseOptions } from './options';
import { publish } from './report/publish';
import type { Row } from './report/rows';
import { choosePlan, listScenarios, type Plan } from './scenarios/choose-plan';
import { runScenario } from './scenarios/run-scenario';
import { pathsOf } from './scenarios/scenarios';
import { type BenchWorld, startBench, waitForDrain } from './start-bench';

const DRAIN_TIMEOUT_MS = 120_000;

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) return console.log(`${optionHelp()}\n${listScenarios()}`);
  const plan = choosePlan(options.scenarios);
  const world = await startBench(options);
  const rows: Row[] = [];
  const notes: string[] = [];
  try {
    const machine = await describeMachine(describeStores(options), await readServerVersions(world.stores));
    try {
      await Promise.race([interruption(), runAll(world, plan, { rows, notes })]);
      notes.push(await describeLedger(world));
    } finally {
      // What was measured is published even when a later scenario fails or the run is interrupted.
      await publish({ machine, rows, notes });
    }
  } finally {
    await world.stop();
  }
}

interface Findings {
  readonly rows: Row[];
  readonly notes: string[];
}

/** Never resolves: throws when somebody ends the run. */
const interruption = () =>
  new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => reject(new Error(`ended by ${signal}`)));
    }
  });

async function runAll(world: BenchWorld, plan: Plan, { rows, notes }: Findings): Promise<void> {
  for (const connections of world.options.connections) {
    for (const scenario of plan.scenarios) {
      const missing = await findMissingPath(world, pathsOf(scenario));
      if (missing !== undefined) {
        notes.push(`${scenario.name}: left out, the gateway has no ${missing}`);
        continue;
      }
      console.error(`${scenario.name}, ${connections} connections`);
      rows.push(...(await runScenario(world, scenario, connections)));
    }
  }
  for (const special of plan.specials) {
    console.error(special.name);
    const outcome = await special.run(world);
    rows.push(...outcome.rows);
    notes.push(...outcome.notes);
  }
}

/** The first path that the gateway does not serve. */
async function findMissingPath({ targets }: BenchWorld, paths: readonly string[]): Promise<string | undefined> {
  const gateway = targets.find(({ kind }) => kind === 'gateway');
  for (const path of paths) {
    const answer = await fetch(`${gateway?.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway?.keys.open}`, 'content-type': 'application/json' },
      body: '{}',
    });
    await answer.text();
    if (answer.status === 404) return path;
  }
  return undefined;
}

/** Whether counters and rows agree after all that load. */
async function describeLedger({ gateway }: BenchWorld): Promise<string> {
  if (gateway === undefined) return 'ledger: not ours to read';
  if (!(await waitForDrain(gateway, DRAIN_TIMEOUT_MS))) return 'ledger: the queue was still draining at the end';
  const { ok } = await callAdmin<{ ok: boolean }>(gateway, '/reconcile');
  return `ledger after the load: ${ok ? 'even' : 'NOT EVEN'}`;
}

function describeStores({ url, stores, workers }: BenchOptions): string {
  if (url !== undefined) return 'a running gateway';
  const processes = workers === 1 ? 'one process' : `${workers} processes`;
  return `${processes}, ${stores === 'real' ? 'Redis (appendonly, everysec) and Postgres (fsync off)' : 'embedded stores'}`;
}

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(error instanceof BenchOptionError ? error.message : error);
  process.exit(1);
}
