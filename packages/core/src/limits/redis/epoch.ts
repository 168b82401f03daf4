// After data loss or a restart of Redis, decisions stop until one process has rebuilt the counters from rows and queue.
import type { RebuildSource } from '../hot-store';
import type { ShardKeys } from './keys';
import { rebuildShard } from './rebuild';
import { type RedisClient, runScript, type ScriptArg } from './scripts';

const LOCK_MS = 15_000;
const WAIT_MS = 50;
const REBUILDING = 'rebuilding:';

export interface EpochContext {
  readonly client: RedisClient;
  readonly shards: readonly ShardKeys[];
  readonly newId: () => string;
  /** Instead of the server's clock: for tests only. */
  readonly clock: ScriptArg;
  /** Open requests, restored if the store lost them. */
  readonly openHolds: () => ReadonlyMap<string, string>;
  readonly leaseMs: number;
  /** This process has seen the store's data. */
  readonly isKnown: boolean;
  /** Called after the counters of a lost store are rebuilt. `restored`: restored open requests. */
  readonly onLost: (lost: LostData) => void;
}

export interface LostData {
  readonly restored: number;
}

interface ShardEpoch {
  readonly keys: ShardKeys;
  /** `<id> <run id>`; valid while the server that holds the shard still has that run id. */
  readonly epoch: string;
  readonly runId: string;
  readonly serverMs: number;
}

/** The epoch of a shard, as its server has it now. */
export async function readEpoch(client: RedisClient, keys: ShardKeys): Promise<ShardEpoch> {
  const reply = (await runScript(client, 'epochRead', [keys.epoch])) as [string, string, number];
  return { keys, epoch: reply[0], runId: reply[1], serverMs: reply[2] };
}

export function isCurrent({ epoch, runId }: ShardEpoch): boolean {
  return !epoch.startsWith(REBUILDING) && epoch.endsWith(` ${runId}`);
}

/**
 * The epochs of all shards, rebuilding those that lost data (or waiting while another process does). Throws when store or
 * source can't be reached.
 */
export async function ensureEpochs(context: EpochContext, source: RebuildSource): Promise<readonly string[]> {
  for (;;) {
    const shards = await Promise.all(context.shards.map((keys) => readEpoch(context.client, keys)));
    const lost = shards.filter((shard) => !isCurrent(shard));
    if (lost.length === 0) return shards.map(({ epoch }) => epoch);
    const rebuilt = await withLock(context, (token) => rebuildAll(context, { lost, token, source }));
    if (!rebuilt) await Bun.sleep(WAIT_MS);
  }
}

/** False when another process holds the lock. */
async function withLock(context: EpochContext, work: (token: string) => Promise<void>): Promise<boolean> {
  const first = context.shards[0];
  if (first === undefined) throw new Error('the hot store has no shards');
  const lock = `${first.prefix}lock`;
  const token = context.newId();
  if ((await context.client.set(lock, token, 'PX', LOCK_MS, 'NX')) !== 'OK') return false;
  const renewal = setInterval(() => {
    runScript(context.client, 'compareSet', [lock, token, token, LOCK_MS]).catch(() => undefined);
  }, LOCK_MS / 3);
  try {
    await work(token);
  } finally {
    clearInterval(renewal);
    await runScript(context.client, 'compareSet', [lock, token, '', 0]).catch(() => undefined);
  }
  return true;
}

interface RebuildJob {
  readonly lost: readonly ShardEpoch[];
  readonly token: string;
  readonly source: RebuildSource;
}

async function rebuildAll(
  { client, shards, newId, clock, openHolds, leaseMs, isKnown, onLost }: EpochContext,
  { lost, token, source }: RebuildJob,
): Promise<void> {
  // Another process may have rebuilt them meanwhile: then they are open.
  const read = await Promise.all(lost.map(({ keys }) => readEpoch(client, keys)));
  const still = read.filter((shard) => !isCurrent(shard));
  const mark = `${REBUILDING}${token}`;
  // From here on, these shards admit and settle nothing.
  for (const { keys } of still) await client.set(keys.epoch, mark);
  const known = openHolds();
  let restored = 0;
  let isLost = false;
  for (const shard of still) {
    const nowMs = clock === '' ? shard.serverMs : Number(clock);
    const job = { client, keys: shard.keys, shards: shards.length, mark, nowMs, source, leaseMs };
    const rebuilt = await rebuildShard(job, known);
    restored += rebuilt.restored;
    // Without an epoch it is a new one, or has lost everything.
    isLost ||= shard.epoch === '' && (isKnown || rebuilt.hadSpend || rebuilt.restored > 0);
  }
  for (const { keys, runId } of still) {
    const epoch = `${newId()} ${runId}`;
    if ((await runScript(client, 'compareSet', [keys.epoch, mark, epoch, 0])) !== 1)
      throw new Error('another rebuild took over');
  }
  if (isLost) onLost({ restored });
}
