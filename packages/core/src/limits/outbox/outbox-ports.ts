import type { Settlement } from '../hot-store';
import type { QueuedIds } from './choose-modes';
import type { Entry } from './kept-records';
import type { SettleMode, SettleOutcome } from './settlement';
import type { SettlementFile } from './settlement-file';

/** Hands settlements to the store. */
export interface SettlementSender {
  /** First attempt, in the turn's batch: resolves when that is written. `queued`, `taken` or `failed` follows later. */
  sendFirst(entry: Entry): Promise<void>;
  settleAlone(settlement: Settlement, mode: SettleMode, sentIn: Entry['sentIn']): Promise<SettleOutcome>;
}

export interface OutboxPorts {
  /** Opens a batch for the next sends; resolves after the write to the socket. */
  readonly batch: { open(): Promise<void> };
  /** True while written bytes have not left this process. */
  isBackedUp(): boolean;
  shardOf(projectId: string): number;
  /** Entry ids of the requests' queued records, by request id. */
  queuedIds(shards: ReadonlySet<number>, requestIds: ReadonlySet<string>): Promise<QueuedIds>;
  /** Something could not be handed in: the owner checks the store and calls `resume`. */
  onTrouble(): void;
  readonly file: SettlementFile;
  readonly nowMs: () => number;
}
