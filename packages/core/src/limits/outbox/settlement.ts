import type { LogRecord } from '../../logs/log-record';
import type { ToolCallRecord } from '../../logs/tool-call-record';
import type { Settlement } from '../hot-store';

/**
 * `held`: needs a hold. `unheld`: needs none. `force`: booked without a hold. `known`: in queue or rows, so it only
 * drops a hold or corrects the reaper's booking (amount and time). `release`: only drops the hold.
 */
export type SettleMode = 'held' | 'unheld' | 'force' | 'known' | `known r${number} ${number}` | 'release';

export type SettleOutcome =
  /** In the queue, now or already before. */
  | { readonly type: 'queued'; readonly entryId: string }
  /** Only released a hold, if any. */
  | { readonly type: 'released' }
  /** No hold and no marker: whether it was booked has to be looked up. */
  | { readonly type: 'unknown' }
  /** The store is in another epoch and changed nothing. */
  | { readonly type: 'refused' };

/** The settlement that queued this record, for handing it in again. */
export function settlementOfRecord(record: string): Settlement {
  const { id, projectId, apiKeyId, customerId, createdAtMs, costNanoUsd, ...rest } = JSON.parse(record) as
    | LogRecord
    | ToolCallRecord;
  return {
    requestId: id,
    projectId,
    keyId: apiKeyId,
    ...(customerId === undefined ? {} : { customerId }),
    admittedAtMs: createdAtMs,
    held: false,
    costNanoUsd,
    tokens: 'kind' in rest ? 0 : rest.tokensIn + rest.tokensOut,
    record,
  };
}
