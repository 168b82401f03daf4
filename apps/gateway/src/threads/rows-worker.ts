// Rows of the log in a separate thread. Without Postgres, questions fail; the client reconnects.
import { workerData } from 'node:worker_threads';
import { RecordsRejectedError } from '@llm0/core/logs/decode-log-record';
import { RecordsOutdatedError, RecordsWaitError } from '@llm0/core/logs/log-drain';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import type { StoredRecords } from '@llm0/core/tracing/span';
import { attachLogDatabase } from '@llm0/drizzle/clickhouse/log-database';
import { connectDatabase } from '@llm0/drizzle/client';
import { storeLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { answerQuestions } from './answer-questions';
import type { StatsThreadData } from './stats-worker';

export interface RowsQuestion {
  readonly records: readonly string[];
  readonly fence: number | undefined;
  /** The answer names the new rows. */
  readonly isObserved: boolean;
}

export type RowsAnswer =
  | {
      readonly requests?: readonly string[];
      readonly calls?: readonly ToolCallRecord[];
      /** As `RecordsWaitError` has it. */
      readonly waiting?: ReadonlySet<number> | undefined;
    }
  | { readonly refused: 'rejected' | 'outdated'; readonly message: string };

/** As `StatsThreadData`: rows of dropped days are looked for in the log's store. */
export type RowsThreadData = StatsThreadData;

const { databaseUrl, logDatabase }: RowsThreadData = workerData;
const { db } = connectDatabase({ url: databaseUrl }, { maxConnections: 1 });
if (logDatabase !== undefined) attachLogDatabase(db, logDatabase);

answerQuestions(async ({ records, fence, isObserved }: RowsQuestion): Promise<RowsAnswer> => {
  let stored: StoredRecords | undefined;
  let waiting: ReadonlySet<number> | undefined;
  const observe = (written: StoredRecords) => {
    stored = written;
  };
  try {
    await storeLogRecords(db, records, { fence, onWritten: isObserved ? observe : undefined });
  } catch (error) {
    if (error instanceof RecordsRejectedError) return { refused: 'rejected', message: error.message };
    if (error instanceof RecordsOutdatedError) return { refused: 'outdated', message: error.message };
    if (!(error instanceof RecordsWaitError)) throw error;
    waiting = error.waiting;
  }
  return { requests: stored?.requests.map(({ json }) => json), calls: stored?.calls, waiting };
});
