import { callAdmin } from '../stores/start-gateway';
import type { ApartRule } from './apart-rule';
import type { ChaosLoad } from './chaos-load';
import type { ChaosWorld } from './chaos-world';
import type { Random } from './random';
import type { Replica } from './replica';

export interface ActionContext {
  readonly world: ChaosWorld;
  readonly load: ChaosLoad;
  readonly apart: ApartRule;
  readonly random: Random;
  readonly say: (line: string) => void;
}

/** What is broken by an action: two never work on the same thing at once. */
export type ActionTarget = 'gateway' | 'redis' | 'postgres' | 'upstream' | 'clients' | 'calendar';

export interface ChaosAction {
  readonly name: string;
  readonly weight: number;
  readonly target: ActionTarget;
  /** Whether it may be done right now; absent = always. */
  readonly may?: (context: ActionContext) => boolean | Promise<boolean>;
  /** Breaks, waits, heals. */
  readonly run: (context: ActionContext) => Promise<string>;
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

const hasStores = ({ world }: ActionContext) => world.redis !== undefined;

function pickReplica({ world, random }: ActionContext) {
  const up = world.replicas.filter(({ isUp }) => isUp);
  const [first, ...others] = up;
  return first === undefined ? undefined : random.pick([first, ...others]);
}

/** Does one thing to a store, waits at random, and undoes it. */
async function forAWhile(
  { random }: ActionContext,
  most: number,
  work: { begin: () => Promise<void> | void; end: () => Promise<void> | void },
): Promise<string> {
  const ms = random.between(200, most);
  await work.begin();
  await Bun.sleep(ms);
  await work.end();
  return `for ${seconds(ms)}`;
}

/** With what the gateway has in its queue, or with nothing there; cleanly or not, and in the middle of a start. */
async function endInARow(context: ActionContext): Promise<string> {
  const { random, load, apart } = context;
  const replica = pickReplica(context);
  const ends: string[] = [];
  for (let left = random.between(2, 5); left >= 1 && replica !== undefined; left--) {
    await Bun.sleep(random.between(0, 800));
    const how = random.pick(['kill', 'stop', 'kill while starting']);
    const isQuiet = random.next() < 0.5;
    if (how !== 'stop' && !apart.mayKillGateway()) continue;
    const end = async () => {
      if (isQuiet) await untilDrained(replica);
      if (how === 'stop') await replica.terminate();
      else if (how === 'kill') await replica.kill();
      else await replica.killAlsoWhileStarting(random.between(50, 900));
    };
    await (isQuiet ? load.whileQuiet(end) : end());
    ends.push(isQuiet ? `${how}, nothing queued` : how);
  }
  return `${replica?.name}: ${ends.join('; ')}`;
}

const DRAINED_TIMEOUT_MS = 10_000;

/** Until its queue is empty, as far as it comes to that. */
async function untilDrained({ process: gateway }: Replica): Promise<void> {
  const endMs = performance.now() + DRAINED_TIMEOUT_MS;
  while (gateway !== undefined && performance.now() < endMs) {
    const books = await callAdmin<{ queue_depth: number }>(gateway, '/reconcile').catch(() => undefined);
    if (books?.queue_depth === 0) return;
    await Bun.sleep(50);
  }
}

export const ACTIONS: readonly ChaosAction[] = [
  {
    name: 'kill -9 of a gateway',
    weight: 6,
    target: 'gateway',
    may: (context) => context.apart.mayKillGateway() && pickReplica(context) !== undefined,
    run: async (context) => {
      const replica = pickReplica(context);
      await replica?.kill();
      return replica?.name ?? '';
    },
  },
  {
    name: 'SIGTERM to a gateway',
    weight: 3,
    target: 'gateway',
    may: (context) => pickReplica(context) !== undefined,
    run: async (context) => {
      const replica = pickReplica(context);
      return `${replica?.name}, which ended with ${await replica?.terminate()}`;
    },
  },
  {
    name: 'a gateway ended several times in a row',
    weight: 4,
    target: 'gateway',
    may: (context) => context.apart.mayKillGateway() && pickReplica(context) !== undefined,
    run: endInARow,
  },
  {
    name: 'kill -9 of Redis',
    weight: 3,
    target: 'redis',
    may: (context) => context.apart.mayKillRedis(),
    run: async (context) => {
      const { redis } = context.world;
      const loss = context.apart.beginLoss();
      const text = await forAWhile(context, 3_000, { begin: () => redis?.kill(), end: () => redis?.start() });
      loss.end();
      return text;
    },
  },
  {
    name: 'Redis stopped',
    weight: 3,
    target: 'redis',
    may: hasStores,
    run: (context) => {
      const { redis } = context.world;
      return forAWhile(context, 5_000, { begin: () => redis?.stop(), end: () => redis?.start() });
    },
  },
  {
    name: 'Redis frozen',
    weight: 3,
    target: 'redis',
    may: hasStores,
    run: (context) => {
      const { redis } = context.world;
      return forAWhile(context, 5_000, { begin: () => redis?.freeze(), end: () => redis?.thaw() });
    },
  },
  {
    name: 'FLUSHALL',
    weight: 3,
    target: 'redis',
    may: (context) => context.apart.mayFlushRedis(),
    run: async (context) => {
      const loss = context.apart.beginLoss();
      await context.world.redis?.flush();
      loss.end();
      return '';
    },
  },
  {
    name: 'kill -9 of Postgres',
    weight: 3,
    target: 'postgres',
    may: hasStores,
    run: (context) => {
      const { postgres } = context.world;
      return forAWhile(context, 3_000, { begin: () => postgres?.kill(), end: () => postgres?.start() });
    },
  },
  {
    name: 'Postgres stopped',
    weight: 2,
    target: 'postgres',
    may: hasStores,
    run: (context) => {
      const { postgres } = context.world;
      return forAWhile(context, 6_000, { begin: () => postgres?.stop(), end: () => postgres?.start() });
    },
  },
  {
    name: 'Postgres frozen',
    weight: 3,
    target: 'postgres',
    may: hasStores,
    run: (context) => {
      const { postgres } = context.world;
      return forAWhile(context, 6_000, { begin: () => postgres?.freeze(), end: () => postgres?.thaw() });
    },
  },
  {
    name: 'upstream frozen',
    weight: 3,
    target: 'upstream',
    run: (context) => {
      const { control } = context.world.upstream;
      return forAWhile(context, 6_000, { begin: () => control.hold(), end: () => control.release() });
    },
  },
  {
    name: 'clients cut',
    weight: 3,
    target: 'clients',
    run: async ({ load }) => `${load.cutClients()} of them`,
  },
  {
    name: 'calendar to midnight',
    weight: 2,
    target: 'calendar',
    run: async ({ world }) => {
      world.calendar.leapToMidnight();
      // Requests are under way while the day turns.
      await Bun.sleep(4_000);
      return new Date(world.calendar.nowMs()).toISOString();
    },
  },
  {
    name: "calendar to month's end",
    weight: 1,
    target: 'calendar',
    run: async ({ world }) => {
      world.calendar.leapToMonthEnd();
      // Counters are rebuilt for this month and the last: no request may live through two turns.
      await Bun.sleep(20_000);
      return new Date(world.calendar.nowMs()).toISOString();
    },
  },
];
