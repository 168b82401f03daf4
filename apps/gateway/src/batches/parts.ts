import type { Db } from '@llm0/drizzle/client';
import type { Config } from '../config/config';
import { BatchWork, type BatchWorkOptions } from './batch-work';

/** Ledger and queue of batches. */
export interface BatchParts {
  readonly db: Db;
  readonly work: Pick<BatchWork, 'begin' | 'enqueue' | 'advance' | 'stop'>;
}

export const createBatchParts = (
  { database, hotStore, log }: Pick<BatchWorkOptions, 'database' | 'hotStore' | 'log'>,
  { databaseUrl, backgroundWorkers: isEnabled }: Pick<Config, 'databaseUrl' | 'backgroundWorkers'>,
): BatchParts => ({
  db: database.db,
  work: new BatchWork({ database, hotStore, log, databaseUrl, isEnabled }),
});
