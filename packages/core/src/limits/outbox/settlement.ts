import type { LogRecord } from '../../logs/log-record';
import type { ToolCallRecord } from '../../logs/tool-call-record';
import type { Settlement } from '../hot-store';

/**
 * `held`: a hold must be there. `unheld`: none is expected. `force`: known to be nowhere, booked without a hold.
 * `known`: in queue or rows; only a hold goes, or what the reaper booked is corrected (what and
 * when, where the store may have forgotten it). `release`: only the hold goes.
 */
export type SettleMode = 'held' | 'unheld' | 'force' | 'known' | `known r${number} ${number}` | 'release';

export type SettleOutcome =
  /** In the queue; also when it had been taken before. */
  | { readonly type: 'queued'; readonly entryId: string }
  /** Only a hold was released, if there was one. */
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
