import { and, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { gatewayLogs } from '../../schema/gateway-logs';
import { asTable } from '../clickhouse/as-table';
import { rowsBefore } from '../clickhouse/log-engine';
import { askSpeeds } from '../clickhouse/speed-rows';
import { askInTime } from '../stats/read/time-limit';
import { type LogFilter, logConditions } from './logs';

export interface ModelSpeed {
  readonly model: string;
  /** The median. */
  readonly tokensPerSecond: number;
  readonly requests: number;
}

const SPEED = 'model text, tokens float8, at_ms float8, id uuid, took_ms float8';
/** Newest requests that are looked at: roll-ups do not hold tokens and time together. */
const SAMPLE = 1000;
/** Less time is no measure of the model: such an answer came in one piece. */
const LEAST_MS = 50;

/** Tokens a second after the first token, by model: of the newest requests that a provider answered, in 50 ms or more. */
export async function loadSpeeds(db: Db, filter: LogFilter): Promise<readonly ModelSpeed[]> {
  const { model, createdAtMs, id, stream, ttftMs, latencyMs, upstreamMs, tokensOut } = gatewayLogs;
  const wanted: LogFilter = { ...filter, status: 'success', cache: 'miss' };
  const condition = and(...logConditions(wanted));
  const older = await askSpeeds(await rowsBefore(db, filter.fromMs), wanted, SAMPLE);
  const question = sql`
    select model, percentile_cont(0.5) within group (order by tokens / ms * 1000)::float8 as speed,
      count(*)::int as requests
    from (select * from ((
      select ${model} as model, ${tokensOut}::float8 as tokens, ${createdAtMs} as at, ${id} as id,
        (case when ${stream} and ${ttftMs} is not null then ${latencyMs} - ${ttftMs} else ${upstreamMs} end)::float8 as ms
      from ${gatewayLogs} where ${condition} order by ${createdAtMs} desc, ${id} desc limit ${SAMPLE})
      union all select model, tokens, to_timestamp(at_ms / 1000.0), id, took_ms from ${asTable(older, SPEED)}
    ) as all_rows order by at desc, id desc limit ${SAMPLE}) newest
    where ms >= ${LEAST_MS} and tokens > 0 group by model order by requests desc, model`;
  const rows = await askInTime(db, (ask) => ask<{ model: string; speed: number; requests: number }>(question));
  return rows.map(({ speed, ...row }) => ({ ...row, tokensPerSecond: speed }));
}
