// Without ClickHouse, records of dropped days wait in the queue, and others with them.
import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { usdFromNano } from '../../money';
import type { StoredLog } from '../logs/logs';
import type { UsageFact } from '../stats/write/rollup-deltas';
import { findRows } from './find-rows';
import { rowsBefore } from './log-engine';

/** A batch has records whose rows Postgres may have dropped: `findLateRows` tells. */
export class LateRecordsError extends Error {
  constructor(readonly late: LateRecords) {
    super('records of dropped days');
  }
}

type LateRecords = readonly { readonly id: string; readonly createdAtMs: number }[];

const IDS_A_QUESTION = 1000;

/** Rows that only ClickHouse has, by id: a record of one comes again, or corrects it. */
export async function findLateRows(db: Db, late: LateRecords): Promise<ReadonlyMap<string, StoredLog>> {
  const found = new Map<string, StoredLog>();
  const elsewhere = await rowsBefore(db);
  if (elsewhere === undefined) return found;
  for (let at = 0; at < late.length; at += IDS_A_QUESTION) {
    const part = late.slice(at, at + IDS_A_QUESTION);
    const times = part.map(({ createdAtMs }) => createdAtMs);
    const filter = {
      requestIds: part.map(({ id }) => id),
      ...{ fromMs: Math.min(...times), toMs: Math.max(...times) + 1 },
    };
    const asked = { filter, sort: '-created_at' as const, at: undefined, limit: IDS_A_QUESTION };
    for (const row of await findRows(elsewhere.ask, asked)) found.set(row.id, row);
  }
  return found;
}

/** Takes a row's spend out of its run again, which the dropped rows were added to. Returns its sums. */
export async function takeOutLate(tx: Db, row: StoredLog): Promise<UsageFact> {
  if (row.runId !== null) {
    await tx.execute(sql`update runs set dropped_usd = dropped_usd - ${usdFromNano(row.costNanoUsd)}::numeric
      where project_id = ${row.projectId}::uuid and run_id = ${row.runId}`);
  }
  return factOfStored(row);
}

/** As `takeOutRows` reads it. */
const factOfStored = (row: StoredLog): UsageFact => ({
  ...{ createdAtMs: row.createdAtMs, projectId: row.projectId, apiKeyId: row.apiKeyId, model: row.model },
  ...{ provider: row.finalProvider ?? row.provider ?? '', status: row.status, requests: row.refusedCount ?? 1 },
  cache: row.semanticCacheHit ? 'semantic' : row.cacheHit ? 'exact' : 'miss',
  modality: (row.modality ?? (row.dialect === 'openai-embeddings' ? 'embedding' : 'text')) as UsageFact['modality'],
  ...{ customerId: row.customerId, labels: row.labels as UsageFact['labels'], errorCode: row.errorCode },
  ...{ tokensIn: row.tokensIn, tokensOut: row.tokensOut, tokensCacheRead: row.tokensCacheRead },
  ...{ tokensCacheWrite: row.tokensCacheWrite, tokensReasoning: row.tokensReasoning },
  ...{ costNanoUsd: row.costNanoUsd, savedNanoUsd: row.savedNanoUsd, failovers: row.failoverCount },
  ...{ latencyMs: row.latencyMs, ttftMs: row.ttftMs, overheadMs: row.overheadMs, upstreamMs: row.upstreamMs },
});
