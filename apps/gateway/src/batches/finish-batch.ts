import { moveBatch, OPEN, readBatch, type StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import { createFile, deleteFile, INNER } from '@llm0/drizzle/queries/batches/files';
import { forgetAnswers, giveUpLines, sumOpenLines } from '@llm0/drizzle/queries/batches/lines';
import { PREFIXES, showId } from '../files/own-ids';
import type { Services } from '../services/contract';
import { isForwarded } from './forward-batch';
import { lowerHold } from './hold-batch';
import { type WrittenResults, writeResults } from './write-results';

/** Days that results are kept, unless their batch says otherwise. */
const RESULTS_DAYS = 30;
const DAY_MS = 86_400_000;

export type FinishNeeds = Pick<Services, 'batches' | 'files' | 'hotStore' | 'log' | 'clock'>;

/** Ends a batch whose lines have all ended, or whose time is over. Any process may call it at any time, and again. */
export async function advanceBatch(services: FinishNeeds, batchId: string): Promise<void> {
  const { db } = services.batches;
  const batch = await readBatch(db, batchId);
  if (batch === null || batch.endedAtMs !== null || isForwarded(batch)) return;
  if (batch.cancellingAtMs !== null) await giveUpLines(db, batchId, { state: 'cancelled' });
  else if (services.clock.nowMs() >= batch.expiresAtMs) await giveUpLines(db, batchId, { state: 'expired' });
  if ((await sumOpenLines(db, batchId)).open === 0) await finish(services, batch);
}

async function finish(services: FinishNeeds, { id, cancellingAtMs, ...before }: StoredBatch): Promise<void> {
  const { batches, files, clock } = services;
  // Of its own: another process may write results at the same time, and only one batch has them.
  const ids = { output: Bun.randomUUIDv7(), error: Bun.randomUUIDv7() };
  const finalizing = {
    status: cancellingAtMs === null ? ('finalizing' as const) : ('cancelling' as const),
    finalizingAtMs: clock.nowMs(),
    ...{ outputFileId: ids.output, errorFileId: ids.error },
  };
  const batch = await moveBatch(batches.db, { id, from: OPEN }, finalizing);
  if (batch === null) return;
  const written = await writeResults(files, batch, ids);
  await lowerHold(services, batch, { to: 0 });
  const isKept = await keepResults(services, { batch, ids, written });
  // Those of an earlier attempt that was cut off, or these.
  for (const left of isKept ? [before.outputFileId, before.errorFileId] : [ids.output, ids.error]) {
    if (left !== null) await files.store.remove(left);
  }
  if (!isKept) return;
  if (batch.forwarded?.resultsId !== undefined) await files.store.remove(batch.forwarded.resultsId);
  if (batch.dialect !== 'anthropic') return;
  // Its requests came without a file of the caller's.
  await deleteFile(batches.db, { projectId: batch.projectId, id: batch.inputFileId });
  await files.store.remove(batch.inputFileId);
}

interface Finished {
  readonly batch: StoredBatch;
  readonly ids: { readonly output: string; readonly error: string };
  readonly written: WrittenResults;
}

/** Files and the batch's end become visible together. False if the batch has ended before. */
async function keepResults({ batches, clock }: FinishNeeds, { batch, ids, written }: Finished): Promise<boolean> {
  const { projectId, apiKeyId, outputExpiresAfterSeconds: seconds, cancellingAtMs, expired } = batch;
  const nowMs = clock.nowMs();
  const expiresAtMs = nowMs + (seconds === null ? RESULTS_DAYS * DAY_MS : 1000 * seconds);
  const isMessages = batch.dialect === 'anthropic';
  const name = showId(isMessages ? PREFIXES.messageBatch : PREFIXES.batch, batch.id);
  const kept = [
    { id: ids.output, bytes: written.outputBytes, name: `${name}_output.jsonl` },
    { id: ids.error, bytes: written.errorBytes, name: `${name}_error.jsonl` },
  ];
  const ended = {
    status:
      cancellingAtMs !== null ? ('cancelled' as const) : expired > 0 ? ('expired' as const) : ('completed' as const),
    endedAtMs: nowMs,
    outputFileId: written.outputBytes === undefined ? null : ids.output,
    errorFileId: written.errorBytes === undefined ? null : ids.error,
  };
  return batches.db.transaction(async (tx) => {
    if ((await moveBatch(tx, { id: batch.id, from: OPEN }, ended)) === null) return false;
    for (const { bytes, ...file } of kept) {
      if (bytes === undefined) continue;
      const purpose = isMessages ? INNER : 'batch_output';
      await createFile(tx, { ...file, projectId, apiKeyId, bytes, purpose, createdAtMs: nowMs, expiresAtMs });
    }
    await forgetAnswers(tx, batch.id);
    return true;
  });
}
