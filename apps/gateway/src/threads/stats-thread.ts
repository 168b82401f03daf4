import { Worker } from 'node:worker_threads';
import type { StatsAnswer, StatsQuestion, StatsReader } from '../admin/stats/answer-stats';
import { AskedThread, type DatabaseThreadOptions } from './asked-thread';

/** Bytes of JSON. Adding up and writing a thousand buckets takes milliseconds that requests would wait for. */
export class StatsThread
  extends AskedThread<StatsQuestion, StatsAnswer<Uint8Array<ArrayBuffer>>>
  implements StatsReader
{
  constructor({ databaseUrl, env = {}, ...options }: DatabaseThreadOptions) {
    const url = new URL('./stats-worker.ts', import.meta.url);
    super({ start: () => new Worker(url, { env, workerData: databaseUrl }), ...options });
  }

  answer(question: StatsQuestion): Promise<StatsAnswer<Uint8Array<ArrayBuffer>>> {
    return this.ask(question);
  }
}
