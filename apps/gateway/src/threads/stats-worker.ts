// Statistics in a separate thread. Postgres errors carry their code; the client reconnects.
import { workerData } from 'node:worker_threads';
import { lowerPriority } from '@llm0/core/threads/lower-priority';
import { attachLogDatabase, type LogDatabaseOptions } from '@llm0/drizzle/clickhouse/log-database';
import { connectDatabase } from '@llm0/drizzle/client';
import { createStatsReader, type StatsQuestion } from '../admin/stats/answer-stats';
import { answerQuestions } from './answer-questions';

/** Addresses of the stores, to each of which the thread has connections of its own. */
export interface StatsThreadData {
  readonly databaseUrl: string;
  readonly logDatabase?: LogDatabaseOptions | undefined;
}

/** One for the roll-ups, one for single rows. */
const CONNECTIONS = 2;
lowerPriority(10);

const encoder = new TextEncoder();
const { databaseUrl, logDatabase }: StatsThreadData = workerData;
const { db } = connectDatabase({ url: databaseUrl }, { maxConnections: CONNECTIONS });
if (logDatabase !== undefined) attachLogDatabase(db, logDatabase);
const reader = createStatsReader(db);

answerQuestions(
  async (question: StatsQuestion) => {
    const { json, isWorthKeeping } = await reader.answer(question);
    return { json: encoder.encode(json), isWorthKeeping };
  },
  ({ json }) => [json.buffer],
);
