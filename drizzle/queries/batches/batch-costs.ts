import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { usdFromNano } from '../../money';
import type { SignedFact } from '../stats/write/rollup-deltas';

/** Label of a line's row: its batch as callers know it. */
const LABEL = 'batch';
const SHOWN = /^(?:batch|msgbatch)_([0-9a-f]{32})$/;

/** Adds the costs of lines' rows to their batches. A line that a dead process had begun has a row for each attempt. */
export async function addBatchCosts(tx: Db, facts: readonly SignedFact[]): Promise<void> {
  const sums = new Map<string, { readonly projectId: string; costNanoUsd: number }>();
  for (const { fact, sign } of facts) {
    const id = fact.costNanoUsd === 0 ? undefined : SHOWN.exec(fact.labels?.[LABEL] ?? '')?.[1];
    if (id === undefined) continue;
    const sum = sums.getOrInsertComputed(id, () => ({ projectId: fact.projectId, costNanoUsd: 0 }));
    sum.costNanoUsd += sign * fact.costNanoUsd;
  }
  // In one order, so that two writers never wait for each other.
  for (const [id, { projectId, costNanoUsd }] of [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    await tx.execute(sql`update batches set rows_usd = rows_usd + ${usdFromNano(costNanoUsd)}::numeric
      where id = ${id}::uuid and project_id = ${projectId}::uuid`);
  }
}
