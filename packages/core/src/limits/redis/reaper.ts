// Without Redis or the rows, nothing is reaped; leases stay expired for the next run.
import { completeLostRecord, decodeHold, encodeId, type Hold } from '../hold';
import type { RebuildSource, ReserveChange } from '../hot-store';
import { apiKeyKey, customerKey, doneKey, projectKey, type ShardKeys } from './keys';
import type { RedisLink } from './link';
import { runScript } from './scripts';
import { encodeSettle } from './settle-args';

const BATCH = 100;

/** Extends the leases of the given open holds. */
export async function renewLeases(
  link: RedisLink,
  holds: readonly { readonly projectId: string; readonly requestId: string }[],
): Promise<void> {
  const byShard = new Map<ShardKeys, string[]>();
  for (const { projectId, requestId } of holds) {
    const keys = link.keysOf(projectId);
    const ids = byShard.get(keys);
    if (ids === undefined) byShard.set(keys, [requestId]);
    else ids.push(requestId);
  }
  for (const [keys, ids] of byShard) {
    for (let i = 0; i < ids.length; i += 1000) {
      await runScript(link.client, 'renew', [
        keys.epoch,
        keys.leases,
        keys.known.epoch,
        link.clock,
        ...ids.slice(i, i + 1000),
      ]);
    }
  }
}

/** See `HotStore.reserve`. */
export async function changeReserve(
  link: RedisLink,
  { change, ...reserve }: ReserveChange,
): Promise<number | undefined> {
  const { projectId, keyId, requestId, untilMs } = reserve;
  const keys = link.keysOf(projectId);
  const customer = encodeId(reserve.customerId ?? '');
  const left = await runScript(link.client, 'reserve', [
    ...[keys.epoch, projectKey(keys, projectId), apiKeyKey(keys, keyId), keys.holds, keys.leases],
    ...[customerKey(keys, projectId, customer), keys.known.epoch, requestId, customer],
    ...('to' in change ? ['to', change.to] : ['by', change.by]),
    untilMs,
  ]);
  return left === '' ? undefined : Number(left);
}

/** Books and logs expired holds; one with a row is only released. */
export async function reapHolds(link: RedisLink, source: RebuildSource): Promise<number> {
  let reaped = 0;
  for (const keys of link.shards) {
    for (;;) {
      const expired = await findExpired(link, keys);
      if (expired.size === 0) break;
      const stored = await source.findStored(
        [...expired].map(([id, hold]) => ({ id, createdAtMs: hold.admittedAtMs })),
      );
      let progress = 0;
      for (const [requestId, hold] of expired) {
        if (stored.has(requestId)) await releaseHold(link, keys, { requestId, hold });
        else if (await reapHold(link, keys, { requestId, hold })) reaped++;
        else continue;
        progress++;
      }
      if (progress === 0 || expired.size < BATCH) break;
    }
  }
  return reaped;
}

async function findExpired(link: RedisLink, keys: ShardKeys): Promise<ReadonlyMap<string, Hold>> {
  const args = [keys.epoch, keys.holds, keys.leases, keys.known.epoch, link.clock, BATCH];
  const reply = (await runScript(link.client, 'expired', args)) as readonly string[];
  const holds = new Map<string, Hold>();
  for (let i = 0; i + 1 < reply.length; i += 2) holds.set(reply[i] ?? '', decodeHold(reply[i + 1] ?? ''));
  return holds;
}

interface ExpiredHold {
  readonly requestId: string;
  readonly hold: Hold;
}

async function reapHold(link: RedisLink, keys: ShardKeys, { requestId, hold }: ExpiredHold): Promise<boolean> {
  const customer = encodeId(hold.customerId);
  const args = [
    keys.epoch,
    projectKey(keys, hold.projectId),
    apiKeyKey(keys, hold.keyId),
    keys.log,
    keys.holds,
    keys.leases,
    customerKey(keys, hold.projectId, customer),
    doneKey(keys, requestId),
    keys.known.epoch,
    link.clock,
    requestId,
    customer,
    completeLostRecord(hold),
  ];
  return (await runScript(link.client, 'reap', args)) === 1;
}

async function releaseHold(link: RedisLink, keys: ShardKeys, { requestId, hold }: ExpiredHold): Promise<void> {
  const { projectId, keyId, customerId, admittedAtMs } = hold;
  const settlement = {
    requestId,
    projectId,
    keyId,
    admittedAtMs,
    held: true,
    costNanoUsd: 0,
    tokens: hold.tokens,
    record: '',
  };
  const context = { keys, epoch: keys.known.epoch, clock: link.clock, cacheMaxBytes: 0 };
  const args = encodeSettle(customerId === '' ? settlement : { ...settlement, customerId }, 'release', context);
  await runScript(link.client, 'settle', args);
}
