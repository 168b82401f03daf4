import type { Cluster, Redis } from 'ioredis';
import { DONE_MARKER_MS, REAPED_MARKER_MS } from '../hold';
import admit from './lua/admit.lua' with { type: 'text' };
import admitTables from './lua/admit_tables.lua' with { type: 'text' };
import budgetsAdmit from './lua/budgets/admit.lua' with { type: 'text' };
import budgetsBook from './lua/budgets/book.lua' with { type: 'text' };
import budgetsCount from './lua/budgets/count.lua' with { type: 'text' };
import budgetsHome from './lua/budgets/home.lua' with { type: 'text' };
import budgetsKept from './lua/budgets/kept.lua' with { type: 'text' };
import budgetsOpen from './lua/budgets/open.lua' with { type: 'text' };
import cacheCount from './lua/cache/count.lua' with { type: 'text' };
import cacheRead from './lua/cache/read.lua' with { type: 'text' };
import cacheRemove from './lua/cache/remove.lua' with { type: 'text' };
import cacheStore from './lua/cache/store.lua' with { type: 'text' };
import cacheWrite from './lua/cache/write.lua' with { type: 'text' };
import clock from './lua/clock.lua' with { type: 'text' };
import commit from './lua/commit.lua' with { type: 'text' };
import compareSet from './lua/compare_set.lua' with { type: 'text' };
import customerSpend from './lua/customer_spend.lua' with { type: 'text' };
import epochRead from './lua/epoch_read.lua' with { type: 'text' };
import expired from './lua/expired.lua' with { type: 'text' };
import levels from './lua/levels.lua' with { type: 'text' };
import levelsAdmit from './lua/levels_admit.lua' with { type: 'text' };
import queueIds from './lua/queue_ids.lua' with { type: 'text' };
import queueState from './lua/queue_state.lua' with { type: 'text' };
import reap from './lua/reap.lua' with { type: 'text' };
import rebuildWrite from './lua/rebuild_write.lua' with { type: 'text' };
import renew from './lua/renew.lua' with { type: 'text' };
import reserve from './lua/reserve.lua' with { type: 'text' };
import setVersions from './lua/set_versions.lua' with { type: 'text' };
import settle from './lua/settle.lua' with { type: 'text' };
import spendCap from './lua/spend_cap.lua' with { type: 'text' };
import tokenBucket from './lua/token_bucket.lua' with { type: 'text' };

export type RedisClient = Redis | Cluster;
export type ScriptArg = string | number;

const join = (...units: readonly string[]): string => units.join('\n');

/** Every script with its units and its number of keys (undefined: in the first argument). */
const SCRIPTS = {
  admit: {
    keys: undefined,
    lua: join(
      ...[clock, tokenBucket, spendCap, budgetsHome, budgetsKept, budgetsAdmit, levels, levelsAdmit],
      ...[customerSpend, admitTables, admit],
    ),
  },
  commit: {
    keys: undefined,
    lua: join(clock, tokenBucket, spendCap, budgetsHome, budgetsBook, levels, customerSpend, cacheStore, commit),
  },
  settle: {
    keys: 15,
    lua: join(
      ...[clock, tokenBucket, spendCap, budgetsHome, budgetsKept, budgetsBook, levels],
      ...[customerSpend, cacheStore, settle],
    ),
  },
  reap: { keys: 8, lua: join(clock, spendCap, budgetsHome, budgetsBook, customerSpend, reap) },
  reserve: { keys: 6, lua: join(clock, spendCap, budgetsHome, budgetsBook, customerSpend, reserve) },
  openBudgets: { keys: 4, lua: join(clock, spendCap, budgetsHome, budgetsKept, budgetsOpen) },
  countBudget: { keys: 2, lua: join(clock, budgetsCount) },
  expired: { keys: 3, lua: join(clock, expired) },
  renew: { keys: 2, lua: join(clock, renew) },
  setVersions: { keys: 2, lua: setVersions },
  cacheWrite: { keys: 6, lua: join(clock, cacheStore, cacheWrite) },
  cacheRead: { keys: 2, lua: join(clock, cacheRead) },
  cacheRemove: { keys: 5, lua: join(clock, cacheStore, cacheRemove) },
  cacheCount: { keys: 5, lua: join(clock, cacheStore, cacheCount) },
  queueIds: { keys: 1, lua: queueIds },
  queueState: { keys: 2, lua: queueState },
  epochRead: { keys: 1, lua: epochRead },
  rebuildWrite: { keys: 3, lua: rebuildWrite },
  compareSet: { keys: 1, lua: compareSet },
} as const;

export type ScriptName = keyof typeof SCRIPTS;

type ScriptMethod = (...args: readonly ScriptArg[]) => Promise<unknown>;

/** Registers the scripts; ioredis sends them by hash and in full again where the server lost them. */
export function defineScripts(client: RedisClient, leaseMs: number): void {
  const constants = `local LEASE_MS, DONE_MARKER_MS, REAPED_MARKER_MS = ${leaseMs}, ${DONE_MARKER_MS}, ${REAPED_MARKER_MS}
local call, floor, format = redis.call, math.floor, string.format\n`;
  for (const [name, { keys, lua }] of Object.entries(SCRIPTS)) {
    client.defineCommand(`llm0_${name}`, {
      ...(keys === undefined ? {} : { numberOfKeys: keys }),
      lua: constants + lua,
    });
  }
}

/** Keys first, then arguments, as the script declares. Writes the command to the socket before returning. */
export function runScript(client: RedisClient, name: ScriptName, args: readonly ScriptArg[]): Promise<unknown> {
  const method = (client as unknown as Record<string, ScriptMethod | undefined>)[`llm0_${name}`];
  if (method === undefined) throw new Error(`script ${name} is not registered on this connection`);
  return method.apply(client, args as ScriptArg[]);
}
