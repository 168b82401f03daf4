import type { ClickHouseClient } from '@clickhouse/client';
import type { Db } from '../../client';
import { type EngineState, readEngineState } from '../logs/log-days';
import { askOfClient, EngineAwayError } from './ask-clickhouse';
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
  let known: { readonly atMs: number; readonly state: Promise<EngineState> } | undefined;
  /** Has the rows that Postgres dropped. */
  let owner = store;
  const look = (): Promise<EngineState> => {
    const atMs = performance.now();
    if (known === undefined || atMs - known.atMs > STATE_MS) {
      const state = readEngineState(db, store);
      known = { atMs, state };
      state.then(
        ({ floor }) => {
          owner = floor?.store ?? store;
        },
        () => {
          known = undefined;
        },
      );
    }
    return known.state;
  };
  const isReady = async (nowMs: number) => {
    const { completeAtMs, failingSinceMs, waitingSinceMs } = await look();
    const isCurrent = waitingSinceMs === null || waitingSinceMs > nowMs - MOST_LAG_MS;
    return completeAtMs !== null && failingSinceMs === null && isCurrent;
  };
  const askServer = askOfClient(open, hotLabels);
  return {
    store,
    async ask(query) {
      // Readers have looked before: within their transaction, the one connection of an embedded Postgres is taken.
      if (owner !== store) throw new EngineAwayError(`older rows are in ${owner}`);
      return askServer(query);
    },
    splitMs: async (nowMs) => ((await isReady(nowMs)) ? nowMs - RECENT_MS : 0),
    callsSplitMs: async (nowMs) => ((await isReady(nowMs)) ? (await look()).callsUntilMs : 0),
    floorMs: async () => (await look()).floor?.ms ?? 0,
    callsFloorMs: async () => (await look()).callFloor?.ms ?? 0,
  };
}

/** Why the engine takes no rows; undefined while it does, and without one. */
export async function findLogProblem(db: Db): Promise<string | undefined> {
  const engine = engineOf(db);
  return engine === undefined ? undefined : ((await readEngineState(db, engine.store)).problem ?? undefined);
}
