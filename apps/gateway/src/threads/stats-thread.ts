import { Worker } from 'node:worker_threads';
import type { StatsAnswer, StatsQuestion, StatsReader } from '../admin/stats/answer-stats';
import { AskedThread, type DatabaseThreadOptions } from './asked-thread';
import type { StatsThreadData } from './stats-worker';

/** Bytes of JSON. Adding up and writing a thousand buckets takes milliseconds that requests would wait for. */
export class StatsThread
  extends AskedThread<StatsQuestion, StatsAnswer<Uint8Array<ArrayBuffer>>>
  implements StatsReader
{
  constructor({ databaseUrl, logDatabase, env = {}, ...options }: DatabaseThreadOptions & StatsThreadData) {
    const url = new URL('./stats-worker.ts', import.meta.url);
    const workerData: StatsThreadData = { databaseUrl, logDatabase };
    super({ start: () => new Worker(url, { env, workerData }), ...options });
  }

  answer(question: StatsQuestion): Promise<StatsAnswer<Uint8Array<ArrayBuffer>>> {
    return this.ask(question);
  }
}
