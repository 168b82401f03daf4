import { sql } from 'drizzle-orm';
import type { LogFilter } from '../logs/logs';
import type { RowsElsewhere } from './log-engine';
import { rowsWhere } from './rows-where';
import { CREATED_MS, instantOf, ROWS } from './segment-rows';

/** Tokens and time of the newest rows before the change. */
export async function askSpeeds(
  elsewhere: RowsElsewhere | undefined,
  filter: LogFilter,
  limit: number,
): Promise<readonly object[]> {
  if (elsewhere === undefined) return [];
  const where = rowsWhere(filter, sql`created_at < ${instantOf(elsewhere.splitMs)}`);
  return elsewhere.ask(sql`select model, tokens_out as tokens, toString(id) as id, ${CREATED_MS} as at_ms,
      if(stream and ttft_ms is not null, latency_ms - ttft_ms, upstream_ms) as took_ms
    from ${ROWS} where ${where} order by created_at desc, UUIDToNum(id) desc limit ${limit}`);
}
