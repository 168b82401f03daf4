import type { ClickHouseClient } from '@clickhouse/client';
import type { Db } from '../../client';
import { readEngineState } from '../logs/log-days';
import { askOfClient } from './ask-clickhouse';
import { engineOf, type LogEngine } from './log-engine';

/** Rows are a second or two behind; a request's row may come a while after its start. */
const RECENT_MS = 60_000;
/** With older rows outstanding, Postgres answers. */
const MOST_LAG_MS = 15_000;
/** Questions in between share a look at the state. */
const STATE_MS = 1_000;

interface EngineOptions {
  readonly db: Db;
  /** Name of the sink that copies the rows. */
  readonly store: string;
  readonly open: () => Promise<ClickHouseClient>;
  readonly hotLabels?: readonly string[];
}

/** Answers while it has all rows but the newest. */
export function createLogEngine({ db, store, open, hotLabels }: EngineOptions): LogEngine {
  let known: { readonly atMs: number; readonly isReady: boolean } | undefined;
  const isReady = async (nowMs: number) => {
    const { completeAtMs, failingSinceMs, waitingSinceMs } = await readEngineState(db, store);
    const isCurrent = waitingSinceMs === null || waitingSinceMs > nowMs - MOST_LAG_MS;
    return completeAtMs !== null && failingSinceMs === null && isCurrent;
  };
  return {
    store,
    ask: askOfClient(open, hotLabels),
    async splitMs(nowMs) {
      const atMs = performance.now();
      if (known === undefined || atMs - known.atMs > STATE_MS) known = { atMs, isReady: await isReady(nowMs) };
      return known.isReady ? nowMs - RECENT_MS : 0;
    },
  };
}

/** Why the engine takes no rows; undefined while it does, and without one. */
export async function findLogProblem(db: Db): Promise<string | undefined> {
  const engine = engineOf(db);
  return engine === undefined ? undefined : ((await readEngineState(db, engine.store)).problem ?? undefined);
}
