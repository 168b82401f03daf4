import type { Db } from '@llm0/drizzle/client';
import { deleteOldLines, findExpiredFiles, forgetFiles } from '@llm0/drizzle/queries/batches/files';
import { dropPartitionsBefore } from '@llm0/drizzle/queries/logs/partitions';
import { deleteExpired, deleteExpiredSemantic } from '@llm0/drizzle/queries/logs/retention';
import type { Job } from './job';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_ROLLUPS_MS = 48 * HOUR_MS;
const HOUR_ROLLUPS_MS = 90 * DAY_MS;
const LOG_BATCHES_MS = HOUR_MS;
const SYSTEM_LOGS_MS = 90 * DAY_MS;
/** As long as results, unless their batch says otherwise. */
const BATCH_LINES_MS = 30 * DAY_MS;
const FILES_A_ROUND = 500;

export interface Retention {
  readonly logRetentionDays: number;
  readonly logBodiesTtlDays: number;
  /** Deletes a file of a caller from the file store. */
  readonly removeFile?: (id: string) => Promise<void>;
}

/** Deletes expired data: partitions of rows, roll-ups, bodies, system logs, cache entries, stored answers and keys. */
export function cleanUp(retention: Retention): Job {
  return {
    name: 'clean_up',
    intervalMs: HOUR_MS,
    async run({ db, nowMs }) {
      const now = nowMs();
      const partitions = await dropPartitionsBefore(db, now - retention.logRetentionDays * DAY_MS);
      const metadata = {
        partitions: partitions.length,
        rollup_minute: await deleteExpired(db, 'rollup_minute', now - MINUTE_ROLLUPS_MS),
        rollup_hour: await deleteExpired(db, 'rollup_hour', now - HOUR_ROLLUPS_MS),
        rollup_modality_hour: await deleteExpired(db, 'rollup_modality_hour', now - HOUR_ROLLUPS_MS),
        rollup_guardrail_hour: await deleteExpired(db, 'rollup_guardrail_hour', now - HOUR_ROLLUPS_MS),
        rollup_tool_hour: await deleteExpired(db, 'rollup_tool_hour', now - HOUR_ROLLUPS_MS),
        rollup_error: await deleteExpired(db, 'rollup_error', now - HOUR_ROLLUPS_MS),
        gateway_log_bodies: await deleteExpired(db, 'gateway_log_bodies', now - retention.logBodiesTtlDays * DAY_MS),
        log_batches: await deleteExpired(db, 'log_batches', now - LOG_BATCHES_MS),
        system_logs: await deleteExpired(db, 'system_logs', now - SYSTEM_LOGS_MS),
        alert_firings: await deleteExpired(db, 'alert_firings', now - SYSTEM_LOGS_MS),
        exact_cache: await deleteExpired(db, 'exact_cache', now),
        idempotency_keys: await deleteExpired(db, 'idempotency_keys', now),
        kept_answers: await deleteExpired(db, 'kept_answers', now),
        realtime_secrets: await deleteExpired(db, 'realtime_secrets', now),
        semantic_matches: await deleteExpired(db, 'semantic_matches', now - retention.logBodiesTtlDays * DAY_MS),
        files: await deleteExpiredFiles(db, retention, now),
        batch_lines: await deleteOldLines(db, now - BATCH_LINES_MS),
        semantic_cache: await deleteExpiredSemantic(db, now),
      };
      const removed = Object.entries(metadata).filter(([, count]) => count > 0);
      const message = removed.map(([name, count]) => `${count} of ${name}`).join(', ');
      return { message: message === '' ? 'nothing to remove' : `removed ${message}`, metadata };
    },
  };
}

/** The bytes go first: a file without a row would stay for good. */
async function deleteExpiredFiles(db: Db, { removeFile }: Retention, nowMs: number): Promise<number> {
  let deleted = 0;
  if (removeFile === undefined) return deleted;
  for (;;) {
    const expired = await findExpiredFiles(db, nowMs, FILES_A_ROUND);
    for (const id of expired) await removeFile(id);
    await forgetFiles(db, expired);
    deleted += expired.length;
    if (expired.length < FILES_A_ROUND) return deleted;
  }
}
