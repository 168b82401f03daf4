import { and, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { gatewayLogs } from '../../schema/gateway-logs';
import { askInTime } from '../stats/read/time-limit';
import { type LogFilter, logConditions } from './logs';

export interface ModelSpeed {
  readonly model: string;
  /** The median. */
  readonly tokensPerSecond: number;
  readonly requests: number;
}

/** Newest requests that are looked at: roll-ups do not hold tokens and time together. */
const SAMPLE = 1000;

/** Tokens a second after the first token, by model: of the newest requests that a provider answered. */
export async function loadSpeeds(db: Db, filter: LogFilter): Promise<readonly ModelSpeed[]> {
  const { model, createdAtMs, id, stream, ttftMs, latencyMs, upstreamMs, tokensOut } = gatewayLogs;
  const condition = and(...logConditions({ ...filter, status: 'success', cache: 'miss' }));
  const question = sql`
    select model, percentile_cont(0.5) within group (order by tokens / ms * 1000)::float8 as speed,
      count(*)::int as requests
    from (
      select ${model} as model, ${tokensOut}::float8 as tokens,
        (case when ${stream} and ${ttftMs} is not null then ${latencyMs} - ${ttftMs} else ${upstreamMs} end)::float8 as ms
      from ${gatewayLogs} where ${condition} order by ${createdAtMs} desc, ${id} desc limit ${SAMPLE}
    ) newest
    where ms > 0 and tokens > 0 group by model order by requests desc, model`;
  const rows = await askInTime(db, (ask) => ask<{ model: string; speed: number; requests: number }>(question));
  return rows.map(({ speed, ...row }) => ({ ...row, tokensPerSecond: speed }));
}
