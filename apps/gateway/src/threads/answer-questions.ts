import { parentPort } from 'node:worker_threads';
import { errorCode, rootMessage } from '@llm0/drizzle/sql-state';
import type { Asked, Reply } from './asked-thread';

/** The thread's side of an `AskedThread`. Buffers that `transferred` lists move instead of being copied. */
export function answerQuestions<Question, Answer>(
  answer: (question: Question) => Promise<Answer>,
  transferred: (answer: Answer) => readonly ArrayBuffer[] = () => [],
): void {
  parentPort?.on('message', async ({ id, question }: Asked<Question>) => {
    try {
      const given = await answer(question);
      post({ id, answer: given }, transferred(given));
    } catch (error) {
      post({ id, message: rootMessage(error), code: errorCode(error) });
    }
  });
}

function post<Answer>(reply: Reply<Answer>, buffers: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(reply, [...buffers]);
}
