// Statistics in a separate thread. Postgres errors carry their code; the client reconnects.
import { workerData } from 'node:worker_threads';
import { lowerPriority } from '@llm0/core/threads/lower-priority';
import { connectDatabase } from '@llm0/drizzle/client';
import { createStatsReader, type StatsQuestion } from '../admin/stats/answer-stats';
import { answerQuestions } from './answer-questions';

/** One for the roll-ups, one for single rows. */
const CONNECTIONS = 2;
lowerPriority(10);

const encoder = new TextEncoder();
const reader = createStatsReader(connectDatabase({ url: workerData }, { maxConnections: CONNECTIONS }).db);

answerQuestions(
  async (question: StatsQuestion) => {
    const { json, isWorthKeeping } = await reader.answer(question);
    return { json: encoder.encode(json), isWorthKeeping };
  },
  ({ json }) => [json.buffer],
);
