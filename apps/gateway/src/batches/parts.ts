import type { Db } from '@llm0/drizzle/client';
import type { BatchWork } from './batch-work';

/** Ledger and queue of batches. */
export interface BatchParts {
  readonly db: Db;
  readonly work: Pick<BatchWork, 'begin' | 'enqueue' | 'advance' | 'stop'>;
}
