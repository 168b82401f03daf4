import { findAnyBatch, moveBatch, type StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import { giveUpLines } from '@llm0/drizzle/queries/batches/lines';
import type { Services } from '../services/contract';
import { isForwarded } from './forward-batch';
import { lowerHold } from './hold-batch';

export type CancelNeeds = Pick<Services, 'batches' | 'hotStore' | 'log' | 'clock'>;

/** Lines under way end, all others are given up; null if the batch doesn't go on any more. */
export async function cancelBatch(services: CancelNeeds, { id }: Pick<StoredBatch, 'id'>): Promise<StoredBatch | null> {
  const { batches, clock } = services;
  const cancelling = { status: 'cancelling', cancellingAtMs: clock.nowMs() } as const;
  const batch = await moveBatch(batches.db, { id, from: ['validating', 'in_progress'] }, cancelling);
  if (batch === null) return null;
  // What the vendor has run by then is still to be paid.
  const isOwn = isForwarded(batch);
  await giveUpLines(batches.db, id, { state: 'cancelled', isOwn });
  if (!isOwn) await lowerHold(services, batch, { to: 0 });
  await batches.work.advance(batch);
  return findAnyBatch(batches.db, id);
}
