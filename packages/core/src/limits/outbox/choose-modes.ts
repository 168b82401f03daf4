import type { RebuildSource } from '../hot-store';
import type { SettleMode } from './settlement';

/** Entry ids of records that are in the queue, by request id. */
export type QueuedIds = ReadonlyMap<string, string>;

interface Handed {
  readonly requestId: string;
  readonly admittedAtMs: number;
}

/**
 * Chooses how to resend settlements that may have arrived, by queue and rows. Read `queued` before the rows. Throws if
 * the rows are unavailable.
 */
export async function chooseModes(
  handed: readonly Handed[],
  queued: QueuedIds,
  source: Pick<RebuildSource, 'findStored' | 'findLost'>,
): Promise<(handed: Handed) => SettleMode> {
  const asked = handed.map(({ requestId, admittedAtMs }) => ({ id: requestId, createdAtMs: admittedAtMs }));
  const stored = await source.findStored(asked);
  const lost = await source.findLost(asked.filter(({ id }) => stored.has(id) && !queued.has(id)));
  return ({ requestId }) => {
    const booking = lost.get(requestId);
    if (booking !== undefined) return `known r${booking.costNanoUsd} ${booking.createdAtMs}`;
    return queued.has(requestId) || stored.has(requestId) ? 'known' : 'force';
  };
}
