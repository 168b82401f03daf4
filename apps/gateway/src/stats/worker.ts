// Statistics in a separate thread. Postgres errors carry their code; the client reconnects.
import { parentPort } from 'node:worker_threads';
import { lowerPriority } from '@llm0/core/threads/lower-priority';
import { connectDatabase } from '@llm0/drizzle/client';
import { rootCode, rootMessage } from '@llm0/drizzle/sql-state';
import { createStatsReader } from '../admin/stats/answer-stats';
import type { StatsThreadQuestion, StatsThreadReply, StatsThreadSettings } from './messages';

/** One for the roll-ups, one for single rows. */
const CONNECTIONS = 2;
lowerPriority(10);

const encoder = new TextEncoder();
let reader: ReturnType<typeof createStatsReader> | undefined;

async function answer({ id, question }: StatsThreadQuestion): Promise<void> {
  try {
    if (reader === undefined) throw new Error('no settings came before the question');
    const { json, isWorthKeeping } = await reader.answer(question);
    const bytes = encoder.encode(json);
    const reply: StatsThreadReply = { id, answer: { json: bytes, isWorthKeeping } };
    parentPort?.postMessage(reply, [bytes.buffer]);
  } catch (error) {
    const reply: StatsThreadReply = { id, message: rootMessage(error), code: rootCode(error) };
    parentPort?.postMessage(reply);
  }
}

parentPort?.on('message', (message: StatsThreadSettings | StatsThreadQuestion) => {
  if ('question' in message) void answer(message);
  else reader = createStatsReader(connectDatabase({ url: message.databaseUrl }, { maxConnections: CONNECTIONS }).db);
});
