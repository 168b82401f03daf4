import { z } from '@hono/zod-openapi';
import type { StoredBatch } from '@llm0/drizzle/queries/batches/batches';
import { billedTokens } from '../../batches/show-batch';
import { PREFIXES, showId } from '../../files/own-ids';
import { instantShown, usdShown } from '../fields/fields';
import { showFields } from '../fields/map-fields';

export const BATCH_STATUSES = [
  ...([
    'validating',
    'failed',
    'in_progress',
    'finalizing',
    'completed',
    'expired',
    'cancelling',
    'cancelled',
  ] as const),
] as const;

const batch = z.object({
  id: z.string().openapi({ description: 'Id of the row, for the admin API' }),
  batch_id: z.string().openapi({ description: 'Id that callers know' }),
  project_id: z.string(),
  api_key_id: z.string().openapi({ description: 'Its lines run as this key' }),
  dialect: z.enum(['openai', 'anthropic']),
  endpoint: z.string(),
  status: z.enum(BATCH_STATUSES),
  total: z.number().openapi({ description: 'Lines' }),
  completed: z.number(),
  failed: z.number(),
  expired: z.number(),
  cancelled: z.number(),
  bound_usd: usdShown.openapi({ description: 'The most that its lines may cost, held at the start' }),
  cost_usd: usdShown.openapi({
    description: 'Cost of the lines that have ended, and of attempts at them whose process died',
  }),
  tokens_in: z.number().openapi({ description: 'Of the same lines and attempts' }),
  tokens_out: z.number(),
  errors: z
    .array(
      z.object({ code: z.string(), message: z.string(), param: z.string().nullable(), line: z.number().nullable() }),
    )
    .nullable(),
  has_output_file: z.boolean().openapi({ description: 'Answers can be downloaded' }),
  has_error_file: z.boolean().openapi({ description: 'Errors of lines can be downloaded' }),
  created_at: instantShown,
  in_progress_at: instantShown.nullable(),
  cancelling_at: instantShown.nullable(),
  ended_at: instantShown.nullable(),
  expires_at: instantShown,
});

export const batchSchema = batch.openapi('Batch');

export function showBatchRow({ errors, ...row }: StoredBatch) {
  const prefix = row.dialect === 'anthropic' ? PREFIXES.messageBatch : PREFIXES.batch;
  const shownErrors = errors === null ? null : errors.map((one) => ({ ...one }));
  return showFields(batch, {
    ...row,
    ...billedTokens(row),
    costNanoUsd: Math.max(row.costNanoUsd, row.rowsNanoUsd),
    batchId: showId(prefix, row.id),
    errors: shownErrors,
    hasOutputFile: row.endedAtMs !== null && row.outputFileId !== null,
    hasErrorFile: row.endedAtMs !== null && row.errorFileId !== null,
  });
}
