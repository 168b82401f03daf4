import type { JsonObject } from '@llm0/core/chat/json';
import type { BatchStatus, StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import { PREFIXES, showId } from '../files/own-ids';

const seconds = (ms: number | null): number | null => (ms === null ? null : Math.floor(ms / 1000));
const fileId = (id: string | null): string | null => (id === null ? null : showId(PREFIXES.file, id));

/** By its lines or by their rows, which come a moment later, but count each attempt. */
export const billedTokens = (
  batch: Pick<StoredBatch, 'tokensIn' | 'tokensOut' | 'rowsTokensIn' | 'rowsTokensOut'>,
) => ({
  tokensIn: Math.max(batch.tokensIn, batch.rowsTokensIn),
  tokensOut: Math.max(batch.tokensOut, batch.rowsTokensOut),
});

/** OpenAI's batch object. */
export function showBatch(batch: StoredBatch): JsonObject & { id: string } {
  const { status, endedAtMs, total, completed, failed } = batch;
  const { tokensIn, tokensOut } = billedTokens(batch);
  const endedAs = (one: BatchStatus) => (status === one ? seconds(endedAtMs) : null);
  const isEnded = endedAtMs !== null;
  return {
    ...{ id: showId(PREFIXES.batch, batch.id), object: 'batch', endpoint: batch.endpoint },
    errors: batch.errors === null ? null : { object: 'list', data: batch.errors.map((one) => ({ ...one })) },
    ...{ input_file_id: fileId(batch.inputFileId), completion_window: '24h', status },
    output_file_id: isEnded ? fileId(batch.outputFileId) : null,
    error_file_id: isEnded ? fileId(batch.errorFileId) : null,
    ...{ created_at: seconds(batch.createdAtMs), in_progress_at: seconds(batch.inProgressAtMs) },
    ...{ expires_at: seconds(batch.expiresAtMs), finalizing_at: seconds(batch.finalizingAtMs) },
    ...{ completed_at: endedAs('completed'), failed_at: endedAs('failed'), expired_at: endedAs('expired') },
    ...{ cancelling_at: seconds(batch.cancellingAtMs), cancelled_at: endedAs('cancelled') },
    request_counts: { total, completed, failed },
    usage: {
      ...{ input_tokens: tokensIn, input_tokens_details: { cached_tokens: batch.rowsTokensCached } },
      ...{ output_tokens: tokensOut, output_tokens_details: { reasoning_tokens: batch.rowsTokensReasoning } },
      total_tokens: tokensIn + tokensOut,
    },
    metadata: batch.metadata === null ? null : { ...batch.metadata },
  };
}

const time = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** Anthropic's message batch, under an address `origin`. */
export function showMessageBatch(batch: StoredBatch, origin: string): JsonObject & { id: string } {
  const { total, completed, failed, expired, cancelled, endedAtMs } = batch;
  const isEnded = endedAtMs !== null;
  // By Anthropic, all of them are processing until the end.
  const counts = isEnded ? { succeeded: completed, errored: failed, expired, canceled: cancelled } : NONE;
  const id = showId(PREFIXES.messageBatch, batch.id);
  return {
    ...{ id, type: 'message_batch' },
    processing_status: isEnded ? 'ended' : batch.cancellingAtMs === null ? 'in_progress' : 'canceling',
    request_counts: { processing: isEnded ? 0 : total, ...counts },
    ...{ ended_at: time(endedAtMs), created_at: time(batch.createdAtMs), expires_at: time(batch.expiresAtMs) },
    ...{ archived_at: null, cancel_initiated_at: time(batch.cancellingAtMs) },
    results_url: isEnded ? `${origin}/v1/messages/batches/${id}/results` : null,
  };
}

const NONE = { succeeded: 0, errored: 0, expired: 0, canceled: 0 };
