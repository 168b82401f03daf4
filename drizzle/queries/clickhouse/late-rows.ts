// Without ClickHouse, records of dropped days wait in the queue, and others with them.
import type { LogRecord } from '@llm0/core/logs/log-record';
import { sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { usdFromNano } from '../../money';
import { readSinkSeq } from '../logs/log-sinks';
import type { StoredLog } from '../logs/logs';
import { factOf, type UsageFact } from '../stats/write/rollup-deltas';
import type { StoredToolCall } from '../tool-calls/call-filter';
import { findCallsOf } from './call-rows';
import { findRows } from './find-rows';
import { engineOf, rowsBefore } from './log-engine';

/** A batch has records whose rows Postgres may have dropped: `findLateRows` tells. */
export class LateRecordsError extends Error {
  constructor(
    readonly late: LateRecords,
    /** Postgres gets no rows. */
    readonly isOfLines: boolean,
  ) {
    super('ClickHouse has to tell whether records are new');
  }
}

type LateRecords = readonly {
  readonly id: string;
  readonly createdAtMs: number;
  /** Absent for a request. */
  readonly kind?: 'tool_call';
}[];

const IDS_A_QUESTION = 1000;

/** What ClickHouse had of some records. */
export interface LateRows {
  /** The last batch that it surely had. */
  readonly seq: number;
  /** Ids that were asked for, in lower case. */
  readonly asked: ReadonlySet<string>;
  /** By id. */
  readonly rows: ReadonlyMap<string, StoredLog>;
  readonly calls: ReadonlyMap<string, StoredToolCall>;
}

/**
 * Rows that only ClickHouse has: a record of one comes again, or corrects it. Their time may be `apartMs` from the given
 * one.
 */
export async function findLateRows(db: Db, late: LateRecords, apartMs = 0): Promise<LateRows> {
  const rows = new Map<string, StoredLog>();
  const calls = new Map<string, StoredToolCall>();
  const asked = new Set(late.map(({ id }) => id.toLowerCase()));
  const elsewhere = await rowsBefore(db);
  if (elsewhere === undefined) return { seq: 0, asked, rows, calls };
  const seq = await readSinkSeq(db, engineOf(db)?.store ?? '');
  const inTime = [...late].sort((a, b) => a.createdAtMs - b.createdAtMs);
  for (let at = 0; at < late.length; at += IDS_A_QUESTION) {
    const part = inTime.slice(at, at + IDS_A_QUESTION);
    const times = part.map(({ createdAtMs }) => createdAtMs);
    const range = { fromMs: Math.min(...times) - apartMs, toMs: Math.max(...times) + apartMs + 1 };
    const idsOf = (kind: 'tool_call' | undefined) => part.filter((one) => one.kind === kind).map(({ id }) => id);
    const [requestIds, callIds] = [idsOf(undefined), idsOf('tool_call')];
    const filter = { requestIds, ...range };
    const question = { filter, sort: '-created_at' as const, at: undefined, limit: IDS_A_QUESTION };
    if (requestIds.length > 0) for (const row of await findRows(elsewhere.ask, question)) rows.set(row.id, row);
    if (callIds.length > 0) for (const row of await findCallsOf(elsewhere.ask, callIds, range)) calls.set(row.id, row);
  }
  return { seq, asked, rows, calls };
}

/** Takes a row's spend out of its run again, which the dropped rows were added to. Returns its sums. */
export async function takeOutLate(tx: Db, row: StoredLog): Promise<UsageFact> {
  await takeFromRun(tx, row);
  // Where a record lacks a field, its row has null.
  return factOf(row as unknown as LogRecord);
}

/** Takes the spend of a row that Postgres doesn't have out of its run. */
export async function takeFromRun(
  tx: Db,
  {
    projectId,
    runId,
    costNanoUsd,
  }: { readonly runId: string | null | undefined } & Pick<UsageFact, 'projectId' | 'costNanoUsd'>,
): Promise<void> {
  if (runId == null) return;
  await tx.execute(sql`update runs set dropped_usd = dropped_usd - ${usdFromNano(costNanoUsd)}::numeric
    where project_id = ${projectId}::uuid and run_id = ${runId}`);
}
