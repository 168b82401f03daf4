import type { Db } from '@llm0/drizzle/client';
import type { Config } from '../config/config';
import { createFileParts } from '../files/parts';
import { BatchWork, type BatchWorkOptions } from './queue/batch-work';

/** Ledger and queue of batches. */
export interface BatchParts {
  readonly db: Db;
  readonly work: Pick<BatchWork, 'begin' | 'enqueue' | 'advance' | 'lookAgain' | 'runAgain' | 'stop'>;
}

/** Files, and the batches that read them. */
export const createBatchParts = (
  {
    database,
    hotStore,
    log,
    clock,
  }: Pick<BatchWorkOptions, 'database' | 'hotStore' | 'log'> & { clock: { nowMs(): number } },
  { databaseUrl, backgroundWorkers: isEnabled, files }: Pick<Config, 'databaseUrl' | 'backgroundWorkers' | 'files'>,
) => ({
  files: createFileParts(database.db, files.store),
  batches: {
    db: database.db,
    work: new BatchWork({ nowMs: () => clock.nowMs(), database, hotStore, log, databaseUrl, isEnabled }),
  },
});
