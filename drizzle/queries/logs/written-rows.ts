import type { DecodedRecord } from '@llm0/core/logs/decode-log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import type { MarkedRow } from '../guardrails/guardrail-rollups';
import { BatchSums } from '../stats/write/batch-sums';
import { factOf } from '../stats/write/rollup-deltas';
import { type SwitchRow, switchesOf } from './failover-rows';

/**
 * Facts about written rows that callers still need. Keeping whole records would leave garbage for full collections; see
 * `docs/internals/request-cost.md`.
 */
export class WrittenRows {
  readonly sums = new BatchSums();
  /** Tool calls that were written with them. */
  calls: readonly ToolCallRecord[] = [];
  /** For the numbered batches of the log. */
  readonly entries: { readonly id: string; readonly createdAtMs: number }[] = [];
  readonly marked: MarkedRow[] = [];
  readonly switches: SwitchRow[] = [];
  /** Set for observers. */
  readonly records: DecodedRecord[] = [];

  constructor(private readonly keepsRecords: boolean) {}

  get count(): number {
    return this.entries.length;
  }

  add(decoded: DecodedRecord): void {
    const { record } = decoded;
    const { id, createdAtMs, projectId, guardrails, attempts } = record;
    this.sums.add(factOf(record));
    this.entries.push({ id, createdAtMs });
    if (guardrails !== undefined && guardrails.length > 0) this.marked.push({ createdAtMs, projectId, guardrails });
    if (attempts !== undefined && attempts.length > 1) this.switches.push(...switchesOf(record));
    if (this.keepsRecords) this.records.push(decoded);
  }
}
