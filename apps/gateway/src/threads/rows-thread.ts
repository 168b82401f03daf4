import { Worker } from 'node:worker_threads';
import { type DecodedRecord, RecordsRejectedError } from '@llm0/core/logs/decode-log-record';
import { eachInSlices } from '@llm0/core/logs/in-slices';
import { RecordsOutdatedError, RecordsWaitError } from '@llm0/core/logs/log-drain';
import type { LogInsertOptions } from '@llm0/drizzle/queries/logs/log-insert';
import { AskedThread, type DatabaseThreadOptions } from './asked-thread';
import type { RowsAnswer, RowsQuestion, RowsThreadData } from './rows-worker';

const REFUSALS = { rejected: RecordsRejectedError, outdated: RecordsOutdatedError };

/** Stores rows: decoding, summing and sending takes 28 µs each, handing it over 2 µs of the main thread. */
export class RowsThread extends AskedThread<RowsQuestion, RowsAnswer> {
  constructor({ databaseUrl, logDatabase, env = {}, ...options }: DatabaseThreadOptions & RowsThreadData) {
    const url = new URL('./rows-worker.ts', import.meta.url);
    const workerData: RowsThreadData = { databaseUrl, logDatabase };
    super({ start: () => new Worker(url, { env, workerData }), ...options });
  }

  /** As `storeLogRecords`. */
  async storeRecords(records: readonly string[], { fence, onWritten }: LogInsertOptions): Promise<void> {
    const answer = await this.ask({ records, fence, isObserved: onWritten !== undefined });
    if ('refused' in answer) throw new REFUSALS[answer.refused](answer.message);
    const requests: DecodedRecord[] = [];
    await eachInSlices(answer.requests ?? [], (json) => requests.push({ record: JSON.parse(json), json }));
    onWritten?.({ requests, calls: answer.calls ?? [] });
    if (answer.waiting !== undefined) throw new RecordsWaitError(answer.waiting);
  }
}
