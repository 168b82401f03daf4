import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { usdFromNano } from '../../money';
import type { SignedFact } from '../stats/write/rollup-deltas';

/** Label of a line's row: its batch as callers know it. */
const LABEL = 'batch';
const SHOWN = /^(?:batch|msgbatch)_([0-9a-f]{32})$/;

/** What a row adds to its batch. */
const SUMS = ['costNanoUsd', 'tokensIn', 'tokensOut', 'tokensCacheRead', 'tokensReasoning'] as const;

/** Adds costs and tokens of lines' rows to their batches. A line that a dead process had begun has a row for each attempt. */
export async function addBatchCosts(tx: Db, facts: readonly SignedFact[]): Promise<void> {
  const batches = new Map<
    string,
    { readonly projectId: string; readonly sums: Record<(typeof SUMS)[number], number> }
  >();
  for (const { fact, sign } of facts) {
    const id = fact.labels === null || fact.modality === 'tool' ? undefined : SHOWN.exec(fact.labels[LABEL] ?? '')?.[1];
    if (id === undefined) continue;
    const empty = { costNanoUsd: 0, tokensIn: 0, tokensOut: 0, tokensCacheRead: 0, tokensReasoning: 0 };
    const { sums } = batches.getOrInsertComputed(id, () => ({ projectId: fact.projectId, sums: empty }));
    for (const name of SUMS) sums[name] += sign * fact[name];
  }
  // In one order, so that two writers never wait for each other.
  for (const [id, { projectId, sums }] of [...batches].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (SUMS.every((name) => sums[name] === 0)) continue;
    await tx.execute(sql`update batches set rows_usd = rows_usd + ${usdFromNano(sums.costNanoUsd)}::numeric,
        rows_tokens_in = rows_tokens_in + ${sums.tokensIn}, rows_tokens_out = rows_tokens_out + ${sums.tokensOut},
        rows_tokens_cached = rows_tokens_cached + ${sums.tokensCacheRead},
        rows_tokens_reasoning = rows_tokens_reasoning + ${sums.tokensReasoning}
      where id = ${id}::uuid and project_id = ${projectId}::uuid`);
  }
}
