import type { Db } from '../../client';
import type { Ask } from '../stats/read/time-limit';
import { EngineAwayError } from './ask-clickhouse';

/** A second store of the log's rows, which answers for most of them. */
export interface LogEngine {
  /** Its name among the stores of rows. */
  readonly store: string;
  /** Rows that were created before are asked of it, later ones of Postgres; 0 = none. */
  splitMs(nowMs: number): Promise<number>;
  readonly ask: Ask;
}

/** The engine as one question has it. */
export interface RowsElsewhere {
  readonly splitMs: number;
  readonly ask: Ask;
}

const engines = new WeakMap<Db, LogEngine>();

/** From now on, readers of this database ask the engine too. */
export function attachLogEngine(db: Db, engine: LogEngine): void {
  engines.set(db, engine);
}

/** Undefined where Postgres alone has the rows. */
export const engineOf = (db: Db): LogEngine | undefined => engines.get(db);

/** Reads with the engine where there is one that is ready, else from Postgres alone, which has every row too. */
export async function withEngine<T>(
  db: Db,
  nowMs: number,
  read: (elsewhere: RowsElsewhere | undefined) => Promise<T>,
): Promise<T> {
  const engine = engines.get(db);
  if (engine === undefined) return read(undefined);
  const splitMs = await engine.splitMs(nowMs);
  if (splitMs <= 0) return read(undefined);
  try {
    return await read({ splitMs, ask: engine.ask });
  } catch (error) {
    if (!(error instanceof EngineAwayError)) throw error;
    return read(undefined);
  }
}
