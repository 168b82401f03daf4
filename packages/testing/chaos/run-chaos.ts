import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApartRule } from './apart-rule';
import { ACTIONS, type ActionContext, type ChaosAction } from './chaos-actions';
import { createChaosKeys } from './chaos-keys';
import { ChaosLoad } from './chaos-load';
import type { ChaosOptions } from './chaos-options';
import { type ChaosWorld, startWorld } from './chaos-world';
import { type ChaosLedger, isEven, readChaosLedger } from './ledger';
import { Random } from './random';

/** Pauses between two actions. */
const PAUSE_MS = { least: 200, most: 2_200 } as const;
const WATCH_MS = 250;
/** Beyond the lease: reaper, drain, and a batch that a killed reader had in hand. */
const SETTLE_EXTRA_MS = 60_000;
const HEALED_TIMEOUT_MS = 90_000;

export interface ChaosResult {
  readonly seed: number;
  readonly ledger: ChaosLedger;
  readonly events: ReadonlyMap<string, number>;
  readonly asked: number;
  readonly broken: number;
  readonly unauthenticated: number;
  readonly statuses: ReadonlyMap<number, number>;
  /** Gateways that ended without being told to. */
  readonly crashes: number;
  readonly isEven: boolean;
}

/** One run: builds its world, breaks it for a while, heals it, and does the books. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const world = await startWorld(options);
  try {
    const startedMs = performance.now();
    const say = (line: string) =>
      options.say(`[${((performance.now() - startedMs) / 1000).toFixed(1).padStart(6)} s] ${line}`);
    const gateway = world.replicas[0]?.process;
    if (gateway === undefined) throw new Error('no gateway is up');
    const keys = await createChaosKeys(gateway);
    const startedAtMs = world.calendar.nowMs();
    const load = new ChaosLoad({ keys, replicas: world.replicas, seed: options.seed, lanes: options.lanes });
    const apart = new ApartRule(world.replicas, world.redis);
    const random = new Random(options.seed);
    const events = await breakThings({ world, load, apart, random, say }, options);
    say('healed; waiting for gateways, queue and leases');
    await waitForReplicas(world);
    await load.stop();
    const survivor = world.replicas[0]?.process;
    if (survivor === undefined) throw new Error('a gateway did not come back');
    const ledger = await readChaosLedger({
      gateway: survivor,
      keys,
      answers: load.answers,
      nowMs: world.calendar.nowMs(),
      startedAtMs,
      timeoutMs: options.leaseMs + SETTLE_EXTRA_MS,
    });
    const crashes = world.replicas.reduce((sum, replica) => sum + replica.crashes, 0);
    const result = {
      seed: options.seed,
      ledger,
      events,
      ...load.figures,
      statuses: load.statuses,
      crashes,
      isEven: crashes === 0 && isEven(ledger),
    };
    if (!result.isEven) keepEvidence(world, result, options);
    return result;
  } finally {
    await world.close();
  }
}

/** Random actions until the time is over; resolves when all of them are healed. */
async function breakThings(
  context: ActionContext,
  { durationMs, leastAnswers = 0 }: Pick<ChaosOptions, 'durationMs' | 'leastAnswers'>,
): Promise<ReadonlyMap<string, number>> {
  const { random, say, apart, load } = context;
  const events = new Map<string, number>();
  const busy = new Map<string, Promise<void>>();
  const startMs = performance.now();
  const goesOn = () => {
    const passedMs = performance.now() - startMs;
    return passedMs < durationMs || (passedMs < 4 * durationMs && load.answers.size < leastAnswers);
  };
  const watching = setInterval(() => void apart.watch(), WATCH_MS);
  try {
    while (goesOn()) {
      await Bun.sleep(random.between(PAUSE_MS.least, PAUSE_MS.most));
      const action = random.pickWeighted(ACTIONS.filter(({ target }) => !busy.has(target)));
      if (action === undefined || !(await mayRun(action, context))) continue;
      events.set(action.name, (events.get(action.name) ?? 0) + 1);
      const done = action
        .run(context)
        .then((text) => say(`${action.name} ${text}`.trimEnd()))
        .catch((error: unknown) => say(`${action.name} failed: ${error}`))
        .finally(() => busy.delete(action.target));
      busy.set(action.target, done);
    }
    await Promise.all(busy.values());
  } finally {
    clearInterval(watching);
  }
  return events;
}

async function mayRun(action: ChaosAction, context: ActionContext): Promise<boolean> {
  try {
    return (await action.may?.(context)) ?? true;
  } catch {
    return false;
  }
}

async function waitForReplicas(world: ChaosWorld): Promise<void> {
  const endMs = performance.now() + HEALED_TIMEOUT_MS;
  for (;;) {
    const deciding = await Promise.all(world.replicas.map((replica) => replica.isDeciding()));
    if (deciding.every(Boolean)) return;
    if (performance.now() > endMs) {
      const [dead] = world.replicas.filter((_, index) => deciding[index] !== true);
      throw new Error(`${dead?.name} did not come back:\n${dead?.output().slice(-4_000)}`);
    }
    await Bun.sleep(100);
  }
}

/** The gateways' own output and the ids in question, for whoever looks into it. */
function keepEvidence(world: ChaosWorld, result: ChaosResult, { say }: ChaosOptions): void {
  const folder = mkdtempSync(join(tmpdir(), 'llm0-chaos-evidence-'));
  mkdirSync(folder, { recursive: true });
  for (const replica of world.replicas) writeFileSync(join(folder, `${replica.name}.log`), replica.output());
  writeFileSync(join(folder, 'ledger.json'), JSON.stringify(result.ledger, null, 2));
  say(`not even: the gateways' output and the ids are in ${folder}`);
}
