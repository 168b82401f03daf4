import { Random } from '../chaos/random';
import { createTestKey, type GatewayProcess } from '../stores/start-gateway';
import type { Attack, AttackKey, Profile } from './attack';
import type { AttackOptions } from './attack-options';
import { type AttackedGateway, type AttackWorld, startAttackWorld } from './attack-world';
import { HONEST } from './hostile-upstream';
import { grownBytes, judge, LAW, mayBeTheMachine, type Outcome } from './judge';
import { readBooks } from './read-books';
import { createSender } from './send';
import { showOutcome } from './show-attack';

/** Under caps that nothing may pass, and far away. */
const PROJECT = { strict_caps: true, monthly_cap_usd: 1_000, default_output_tokens: 1_000 };
/** An attack that broke nothing but time is played again: a machine that others share pauses. */
const REPEATS = { busy: 2, perhaps: 1, no: 0 } as const;
const IDLE_MS = 500;
const CALM_MS = 10;
const MOST_LOOKS = 10;

export interface AttackResult {
  readonly outcomes: readonly Outcome[];
  /** By name, what it broke. */
  readonly breaches: ReadonlyMap<string, readonly string[]>;
}

/** Plays one attack after the other, each with a key and a project of its own. */
export async function runAttacks(attacks: readonly Attack[], options: AttackOptions): Promise<AttackResult> {
  const world = await startAttackWorld(options);
  try {
    const calm = await (await world.gateway('plain')).watch.mark();
    await Bun.sleep(IDLE_MS);
    const idle = await (await world.gateway('plain')).watch.mark();
    options.say(`idle: /livez ${idle.livezMs.toFixed(1)} ms at worst, a bare server ${idle.bareMs.toFixed(1)} ms`);
    options.say(`idle: ${Math.round(calm.nowBytes / 1024 / 1024)} MB resident`);
    const outcomes: Outcome[] = [];
    for (const { attack, profile } of inOrder(attacks, options)) {
      const outcome = await playUntilSure(world, { attack, profile, seed: options.seed });
      outcomes.push(outcome);
      options.say(showOutcome(outcome));
    }
    const broken = outcomes.map((outcome) => [outcome.name, judge(outcome)] as const);
    return { outcomes, breaches: new Map(broken.filter(([, laws]) => laws.length > 0)) };
  } finally {
    await world.close();
  }
}

interface Play {
  readonly attack: Attack;
  readonly profile: Profile;
  readonly seed: number;
}

/** One profile after the other, so that few gateways are started. */
function inOrder(attacks: readonly Attack[], { only, short }: AttackOptions): readonly Omit<Play, 'seed'>[] {
  const chosen = attacks.filter(({ name, isLong }) => {
    const isMeant = only === undefined || only.split(',').some((part) => name.includes(part));
    return isMeant && !(short && isLong === true);
  });
  return (['plain', 'bodies'] as const).flatMap((profile) =>
    chosen.flatMap((attack) => ((attack.profiles ?? ['plain']).includes(profile) ? [{ attack, profile }] : [])),
  );
}

async function playUntilSure(world: AttackWorld, play: Play): Promise<Outcome> {
  for (let repeats = 0; ; repeats++) {
    const gateway = await world.gateway(play.profile);
    const outcome = { ...(await playOnce(world, gateway, play)), repeats };
    // What one attack left behind must not be held against the next.
    if (needsFresh(outcome)) await world.gateway(play.profile, true);
    if (repeats >= REPEATS[mayBeTheMachine(outcome)]) return outcome;
    await waitForCalm(await world.gateway(play.profile));
  }
}

const needsFresh = (outcome: Outcome) =>
  outcome.hasEnded || outcome.grownBytes > LAW.grownBytes || !outcome.books.isEven;

/** Until even a bare server answers as it should, or it is clear that it will not. */
async function waitForCalm({ watch }: AttackedGateway): Promise<void> {
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    await watch.mark();
    await Bun.sleep(IDLE_MS);
    if ((await watch.mark()).bareMs < CALM_MS) return;
  }
}

async function playOnce(world: AttackWorld, gateway: AttackedGateway, play: Play): Promise<Omit<Outcome, 'repeats'>> {
  const { attack, profile, seed } = play;
  const { upstream } = world;
  const key = await createAttackKey(gateway.process, attack);
  const random = new Random(seed);
  const send = createSender(gateway.process, key.apiKey);
  upstream.expect(attack.answer?.() ?? HONEST);
  await gateway.watch.mark();
  const startMs = performance.now();
  const context = { key, upstream, send, gateway: gateway.process, random: () => random.next() };
  const gained = (await attack.play(context)) ?? undefined;
  const seconds = (performance.now() - startMs) / 1000;
  send.close();
  const { bill } = upstream;
  const books = gateway.hasEnded
    ? { bookedNanoUsd: 0, billedNanoUsd: 0, isEven: true }
    : await readBooks(gateway.process, key.projectId, bill);
  const readings = await gateway.watch.mark();
  return {
    name: profile === 'plain' ? attack.name : `${attack.name} (${profile})`,
    ...{ seconds, readings, books, gained },
    statuses: new Map(send.statuses),
    failed: send.failed.path,
    grownBytes: grownBytes(gateway, readings),
    isStrict: attack.project?.strict_caps !== false,
    hasEnded: gateway.hasEnded,
  };
}

const UNKNOWN_FIELD = /There is no field (\w+) here/;

/** A gateway that does not know a setting yet is attacked without it. */
async function createAttackKey(gateway: GatewayProcess, attack: Attack): Promise<AttackKey> {
  const key = { rate_limit_per_minute: attack.perMinute ?? 1, ...attack.keySettings };
  const project: Record<string, unknown> = { ...PROJECT, ...attack.project };
  for (;;) {
    try {
      return await createTestKey(gateway, { project, key });
    } catch (error) {
      const unknown = UNKNOWN_FIELD.exec(String(error))?.[1];
      if (unknown === undefined || !(unknown in project)) throw error;
      delete project[unknown];
    }
  }
}
