import { type OpenCount, type OpenedBudget, VOID_MS } from '../budget-counts';
import { homeOf, type MemberBudget, SHARED_HOME } from '../budgets';
import { CACHE_LOST_MS, decodeHold, encodeId, type Hold } from '../hold';
import type { RebuildData, RebuildSource } from '../hot-store';
import { customersOfMonth } from '../month-customers';
import { dayIndex, monthIndex, parseDay, parseMonth } from '../periods';
import { apiKeyKey, customerKey, limitsKey, projectKey, type ShardKeys, shardOf } from './keys';
import type { RedisLink } from './link';
import { readQueue } from './log-queue';
import { type RedisClient, runScript, type ScriptArg } from './scripts';
import { encodeCustomerLimits } from './spend';

const CUSTOMER_TTL_SECONDS = 70 * 86_400;

export interface RebuildShard {
  readonly client: RedisClient;
  readonly keys: ShardKeys;
  readonly shards: number;
  /** Value of the epoch key while this rebuild is the current one. */
  readonly mark: string;
  /** The store's clock. */
  readonly nowMs: number;
  readonly source: RebuildSource;
  readonly leaseMs: number;
}

export interface RebuiltShard {
  /** Open requests that the store had forgotten. */
  readonly restored: number;
  /** Something was spent before. */
  readonly hadSpend: boolean;
}

/**
 * Counters of one shard = rows + open holds. The queue is stored first, so that rows are everything that was settled. `open`:
 * holds that the store may have forgotten.
 */
export async function rebuildShard(job: RebuildShard, open: ReadonlyMap<string, string>): Promise<RebuiltShard> {
  const { client, keys, source } = job;
  await drainQueue(job);
  const data = await source.loadSpend(job.nowMs);
  const restored = await putBack(job, open);
  const holds = await keepUnstoredHolds(job);
  const known = await client.smembers(keys.projects);
  for (const write of planWrites(job, { data, holds, known })) {
    const reply: ScriptArg[] = [
      keys.epoch,
      write.key,
      keys.projects,
      job.mark,
      write.ttlSeconds ?? 0,
      write.replace ? '1' : '0',
      write.projectId ?? '',
      ...write.fields,
    ];
    await runScript(client, 'rebuildWrite', reply);
  }
  await client.hset(keys.cache[4], 'i*', data.warmCacheUntilMs ?? job.nowMs + CACHE_LOST_MS);
  return { restored, hadSpend: data.keyTotals.length > 0 };
}

/** Requests without row and hold get a new lease: their process renews it, or the reaper books it. */
async function putBack(
  { client, keys, shards, source, nowMs, leaseMs }: RebuildShard,
  open: ReadonlyMap<string, string>,
): Promise<number> {
  const own = [...open].filter(([, text]) => shardOf(decodeHold(text).projectId, shards) === keys.shard);
  if (own.length === 0) return 0;
  const asked = own.map(([id, text]) => ({ id, createdAtMs: decodeHold(text).admittedAtMs }));
  const stored = await source.findStored(asked);
  let restored = 0;
  for (const [requestId, text] of own) {
    if (stored.has(requestId) || (await client.hsetnx(keys.holds, requestId, text)) === 0) continue;
    await client.zadd(keys.leases, nowMs + leaseMs, requestId);
    restored += 1;
  }
  return restored;
}

async function drainQueue({ client, keys, source }: RebuildShard): Promise<void> {
  for (;;) {
    const entries = await readQueue(client, keys, { from: '-', count: 1000 });
    if (entries.length === 0) return;
    await source.storeRecords(entries.map(({ record }) => record));
    await client.xdel(keys.log, ...entries.map(({ id }) => id));
  }
}

/** Drops holds whose requests have rows: they were settled in the lost data. Others stay until their lease ends. */
async function keepUnstoredHolds({ client, keys, source }: RebuildShard): Promise<ReadonlyMap<string, Hold>> {
  const holds = new Map<string, Hold>();
  const stored = await client.hgetall(keys.holds);
  for (const [requestId, text] of Object.entries(stored)) holds.set(requestId, decodeHold(text));
  if (holds.size === 0) return holds;
  const settled = await source.findStored([...holds].map(([id, hold]) => ({ id, createdAtMs: hold.admittedAtMs })));
  for (const requestId of settled) {
    holds.delete(requestId);
    await client.hdel(keys.holds, requestId);
    await client.zrem(keys.leases, requestId);
  }
  return holds;
}

interface HashWrite {
  readonly key: string;
  readonly fields: readonly ScriptArg[];
  readonly replace?: boolean;
  readonly ttlSeconds?: number;
  /** Set for a project's own hash, which joins the list of projects. */
  readonly projectId?: string;
}

interface RebuildInput {
  readonly data: RebuildData;
  readonly holds: ReadonlyMap<string, Hold>;
  /** Projects the store still knows: their versions and limits may be older than they should be, and go. */
  readonly known: readonly string[];
}

interface Sums {
  readonly write: Omit<HashWrite, 'fields'>;
  readonly fields: Map<string, number>;
}

class SumTable {
  private readonly sums = new Map<string, Sums>();

  add(write: Omit<HashWrite, 'fields'>, field: string, amount: number): void {
    const sum = this.sums.get(write.key) ?? { write, fields: new Map<string, number>() };
    this.sums.set(write.key, sum);
    sum.fields.set(field, (sum.fields.get(field) ?? 0) + amount);
  }

  *writes(): Generator<HashWrite> {
    for (const { write, fields } of this.sums.values()) yield { ...write, fields: [...fields].flat() };
  }
}

/** Held sums are written even where they are 0: the surviving hash may hold more. */
function* planWrites(job: RebuildShard, { data, holds, known }: RebuildInput): Generator<HashWrite> {
  const { keys } = job;
  const isHere = ({ projectId }: { projectId: string }) => shardOf(projectId, job.shards) === keys.shard;
  const table = new SumTable();
  const project = (projectId: string) => ({ key: projectKey(keys, projectId), replace: true, projectId });
  const apiKey = (keyId: string) => ({ key: apiKeyKey(keys, keyId) });
  const customer = (projectId: string, customerId: string) => ({
    key: customerKey(keys, projectId, encodeId(customerId)),
    ttlSeconds: CUSTOMER_TTL_SECONDS,
  });
  const both = (write: Omit<HashWrite, 'fields'>, period: string, spent: number, held: number) => {
    table.add(write, `s${period}`, spent);
    table.add(write, `h${period}`, held);
  };

  for (const row of data.projectMonths.filter(isHere))
    both(project(row.projectId), `${parseMonth(row.month)}`, row.spentNanoUsd, 0);
  for (const row of data.keyMonths.filter(isHere))
    both(apiKey(row.keyId), `${parseMonth(row.month)}`, row.spentNanoUsd, 0);
  for (const row of data.keyTotals.filter(isHere)) {
    both(apiKey(row.keyId), '', row.spentNanoUsd, 0);
    table.add(apiKey(row.keyId), 'c', 0);
  }
  for (const row of data.customerMonths.filter(isHere)) {
    both(customer(row.projectId, row.customerId), `${parseMonth(row.month)}`, row.spentNanoUsd, 0);
  }
  for (const { projectId, customerId, month } of customersOfMonth({ data, holds: holds.values(), nowMs: job.nowMs })) {
    if (!isHere({ projectId })) continue;
    table.add(customer(projectId, customerId), 'n', month);
    table.add(project(projectId), `n${month}`, 1);
  }
  for (const row of data.customerDays.filter(isHere)) {
    const write = customer(row.projectId, row.customerId);
    table.add(write, `sd${parseDay(row.day)}`, row.spentNanoUsd);
    table.add(write, `hd${parseDay(row.day)}`, 0);
  }
  for (const hold of holds.values()) addHold(hold);
  // Counters of levels are counted again from the rows.
  yield { key: projectKey(keys, SHARED_HOME), replace: true, fields: [] };
  for (const projectId of known) {
    yield { ...project(projectId), fields: [] };
    yield { key: limitsKey(keys, projectId), replace: true, fields: [] };
  }
  yield* table.writes();
  yield* planLimits(job, data);

  function addHold(hold: Hold): void {
    const month = monthIndex(hold.admittedAtMs);
    const day = dayIndex(hold.admittedAtMs);
    both(project(hold.projectId), `${month}`, 0, hold.holdNanoUsd);
    both(apiKey(hold.keyId), `${month}`, 0, hold.holdNanoUsd);
    both(apiKey(hold.keyId), '', 0, hold.holdNanoUsd);
    table.add(apiKey(hold.keyId), 'c', 1);
    if (hold.customerId === '') return;
    const write = customer(hold.projectId, hold.customerId);
    both(write, `${month}`, 0, hold.holdNanoUsd);
    table.add(write, `sd${day}`, 0);
    table.add(write, `hd${day}`, hold.holdNanoUsd);
  }
}

function* planLimits({ keys, shards }: RebuildShard, data: RebuildData): Generator<HashWrite> {
  const byProject = new Map<string, string[]>();
  for (const { projectId, customerId, limits } of data.customerLimits) {
    if (shardOf(projectId, shards) !== keys.shard) continue;
    const fields = byProject.get(projectId) ?? [];
    byProject.set(projectId, fields);
    fields.push(encodeId(customerId), encodeCustomerLimits(limits));
  }
  for (const [projectId, fields] of byProject) yield { key: limitsKey(keys, projectId), fields, replace: true };
}

const QUEUE_BATCH = 1000;

/** Counts of single budgets: `lua/budgets/open.lua` begins one, `lua/budgets/count.lua` keeps or ends it. */
export function openCounts(link: RedisLink, newId: () => string): OpenCount {
  const token = newId();
  return async (projectId, list) => {
    const { client } = link;
    const keys = link.keysOf(projectId);
    const shares = list.some(({ members }) => members !== undefined);
    const names = [keys.epoch, projectKey(keys, projectId)];
    const args = [keys.known.epoch, link.clock, projectId, token, VOID_MS, ...list.flatMap(budgetArgs)];
    const reply = await runScript(client, 'openBudgets', [...names, keys.log, keys.holds, ...args]);
    if (reply === 0) throw new Error('the store is being rebuilt');
    if (reply === 1) return null;
    const [last = '', ...parts] = reply as readonly string[];
    const budgets = openedBudgets(list, parts);
    const note = ({ id, version }: OpenedBudget, spent: ScriptArg) => {
      const home = projectKey(keys, homeOf(id, projectId));
      return runScript(client, 'countBudget', [
        keys.epoch,
        home,
        keys.known.epoch,
        link.clock,
        token,
        id,
        version,
        spent,
      ]);
    };
    return {
      budgets,
      async *queued() {
        for (let from = '-'; last !== ''; ) {
          const entries = await readQueue(client, keys, { from, to: last, count: QUEUE_BATCH });
          yield entries.map(({ record }) => record).filter((record) => shares || record.includes(projectId));
          if (entries.length < QUEUE_BATCH) return;
          from = `(${entries.at(-1)?.id}`;
        }
      },
      beat: () => Promise.all(budgets.map((budget) => note(budget, ''))),
      close: async (budget, spentNanoUsd) => void (await note(budget, spentNanoUsd)),
    };
  };
}

/** Fields of a budget, as `lua/budgets/open.lua` takes them. */
function budgetArgs({ id, version, owner, members }: MemberBudget): readonly ScriptArg[] {
  if (members !== undefined)
    return [id, version, '', owner.scope === 'user' ? 'key' : 'project', [...members].join(' ')];
  const keyId = owner.scope === 'key' ? owner.keyId : '';
  const label = owner.scope === 'label' ? owner.label : '';
  const value = owner.scope === 'label' ? owner.value : owner.scope === 'run' ? owner.runId : '';
  return [id, version, keyId, label, value];
}

/** `parts`: id, period and open requests of each budget that was not counted. */
function openedBudgets(list: readonly MemberBudget[], parts: readonly string[]): readonly OpenedBudget[] {
  return list.flatMap((budget) => {
    const at = parts.indexOf(budget.id);
    if (at < 0) return [];
    const openRequests = (parts[at + 2] ?? '').split(' ').filter((id) => id !== '');
    return [{ ...budget, period: Number(parts[at + 1]), openRequests }];
  });
}
