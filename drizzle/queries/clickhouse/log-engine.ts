import type { Db } from '../../client';
import type { Ask } from '../stats/read/time-limit';
import { EngineAwayError } from './ask-clickhouse';

/** A second store of the log's rows, which answers for most of them. */
export interface LogEngine {
  /** Its name among the stores of rows. */
  readonly store: string;
  /** Rows that were created before are asked of it, later ones of Postgres; 0 = none. */
  splitMs(nowMs: number): Promise<number>;
  /** Rows that were created before are in it alone; 0, or absent, where Postgres has all of them. */
  floorMs?(): Promise<number>;
  /** As `splitMs` of tool calls; never later. */
  callsSplitMs?(nowMs: number): Promise<number>;
  /** As `floorMs` of tool calls; never later. */
  callsFloorMs?(): Promise<number>;
  readonly ask: Ask;
}

/** The engine as one question has it. */
export interface RowsElsewhere {
  /** Requests that were created before are asked of it, later ones of Postgres. */
  readonly splitMs: number;
  /** The same of tool calls; never later. */
  readonly callsMs: number;
  readonly ask: Ask;
}

const engines = new WeakMap<Db, LogEngine>();

/** From now on, readers of this database ask the engine too. */
export function attachLogEngine(db: Db, engine: LogEngine): void {
  engines.set(db, engine);
}

/** Undefined where Postgres alone has the rows. */
export const engineOf = (db: Db): LogEngine | undefined => engines.get(db);

/** A question, as far as it tells which store has its rows. */
export interface EngineQuestion {
  readonly nowMs: number;
  /** Start of the rows; absent = all of them. */
  readonly fromMs?: number | undefined;
}

/**
 * Reads with the engine where there is one that is ready, else from Postgres alone. Rows that Postgres no longer has are
 * asked of the engine in any case: without it, the question throws `EngineAwayError`.
 */
export async function withEngine<T>(
  db: Db,
  { nowMs, fromMs = 0 }: EngineQuestion,
  read: (elsewhere: RowsElsewhere | undefined) => Promise<T>,
): Promise<T> {
  const engine = engines.get(db);
  if (engine === undefined) return read(undefined);
  const { ask } = engine;
  const floorMs = (await engine.floorMs?.()) ?? 0;
  const callsMs = (await engine.callsFloorMs?.()) ?? 0;
  const rest = fromMs < floorMs ? { splitMs: floorMs, callsMs, ask } : undefined;
  const splitMs = await engine.splitMs(nowMs);
  if (splitMs <= 0) return read(rest);
  const callsSplitMs = (await engine.callsSplitMs?.(nowMs)) ?? 0;
  try {
    return await read({ splitMs: Math.max(splitMs, floorMs), callsMs: Math.max(callsSplitMs, callsMs), ask });
  } catch (error) {
    if (!(error instanceof EngineAwayError)) throw error;
    return read(rest);
  }
}

/** Rows before this are in the engine alone; 0 without any. */
export const floorOf = async (db: Db): Promise<number> => (await engines.get(db)?.floorMs?.()) ?? 0;

/** Tool calls before this are in the engine alone; 0 without any. */
export const callsFloorOf = async (db: Db): Promise<number> => (await engines.get(db)?.callsFloorMs?.()) ?? 0;

/** The rows that Postgres no longer has; undefined while it has all of them, and from there on. */
export async function rowsBefore(db: Db, fromMs = 0): Promise<RowsElsewhere | undefined> {
  const engine = engines.get(db);
  const splitMs = (await engine?.floorMs?.()) ?? 0;
  if (engine === undefined || splitMs <= fromMs) return undefined;
  return { splitMs, callsMs: (await engine.callsFloorMs?.()) ?? 0, ask: engine.ask };
}

/** The tool calls that Postgres no longer has. */
export async function callsBefore(db: Db): Promise<RowsElsewhere | undefined> {
  const elsewhere = await rowsBefore(db);
  return elsewhere === undefined || elsewhere.callsMs === 0 ? undefined : elsewhere;
}
