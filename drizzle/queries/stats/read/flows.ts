import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../../client';
import { inWindow, type RowSample, type SampleQuery, sampleRows, windowsTable } from './sample-rows';
import { CACHE_OF_ROW, OUTCOME_OF_ROW, PROVIDER_OF_ROW } from './segment-sql';
import { askInTime } from './time-limit';

/** Requests that went one way through the gateway. */
export interface Flow {
  readonly projectId: string;
  /** An alias or a model, as the caller named it. */
  readonly requestedModel: string;
  /** The last one asked; '' for a request that no provider got. */
  readonly provider: string;
  readonly isCached: boolean;
  /** Estimated from a sample if rows are many. */
  readonly requests: number;
  readonly success: number;
  /** Through no fault of the caller. */
  readonly failed: number;
}

export interface Flows {
  /** Over all ways, shown or not. */
  readonly requests: number;
  readonly isSampled: boolean;
  /** Busiest first. */
  readonly flows: readonly Flow[];
}

/** Callers may invent names of models. */
const MOST_FLOWS = 300;

/** Ways of a range's requests: from projects over requested models to providers. */
export async function loadFlows(db: Db, query: SampleQuery): Promise<Flows> {
  const { fromMs, toMs } = query;
  return askInTime(db, async (ask) => {
    const sample = await sampleRows(ask, query, [[{ fromMs, toMs }]]);
    const rows = await ask<FlowRow>(flowsQuery(query, sample));
    return {
      requests: Math.round(Number(rows[0]?.whole ?? 0)),
      isSampled: sample.isSampled,
      flows: rows.map((row) => ({
        ...{ projectId: row.project_id, requestedModel: row.requested_model, provider: row.provider },
        ...{
          isCached: row.is_cached,
          requests: Math.round(Number(row.requests)),
          success: Math.round(Number(row.success)),
          failed: Math.round(Number(row.failed)),
        },
      })),
    };
  });
}

type FlowRow = {
  readonly project_id: string;
  readonly requested_model: string;
  readonly provider: string;
  readonly is_cached: boolean;
  readonly requests: string | number;
  readonly success: string | number | null;
  readonly failed: string | number | null;
  readonly whole: string | number;
};

const flowsQuery = (query: SampleQuery, { windows }: RowSample): SQL => sql`
  select *, sum(requests) over () as whole from (
    select project_id, requested_model, provider, is_cached, sum(weight * n) as requests,
      sum(weight * n) filter (where outcome = 'success') as success,
      sum(weight * n) filter (where outcome = 'error') as failed
    from ${windowsTable(windows)}, lateral (
      select project_id::text as project_id, requested_model, ${PROVIDER_OF_ROW} as provider,
        ${CACHE_OF_ROW} <> 'miss' as is_cached, coalesce(refused_count, 1) as n,
        ${OUTCOME_OF_ROW} as outcome
      from gateway_logs where ${inWindow(query)} offset 0
    ) as found
    group by 1, 2, 3, 4
  ) as flows
  order by requests desc, project_id, requested_model, provider limit ${MOST_FLOWS}`;
