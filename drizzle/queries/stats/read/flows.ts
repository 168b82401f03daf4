import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../../client';
import { asTable } from '../../clickhouse/as-table';
import { withEngine } from '../../clickhouse/log-engine';
import { askFlows, divideWindows } from '../../clickhouse/sampled-rows';
import { inWindow, type SampleQuery, type SampleWindow, sampleRows, windowsTable } from './sample-rows';
import { CACHE_OF_ROW, OUTCOME_OF_ROW, TARGET_OF_ROW } from './segment-sql';
import { type Ask, askInTime } from './time-limit';

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
  return withEngine(db, query, (elsewhere) => askInTime(db, (ask) => askAll(ask, { ...query, elsewhere })));
}

async function askAll(ask: Ask, query: SampleQuery): Promise<Flows> {
  const { fromMs, toMs, elsewhere, projectId } = query;
  const sample = await sampleRows(ask, query, [[{ fromMs, toMs }]]);
  const { older, here } = divideWindows(sample.windows, elsewhere);
  const olderRows = await askFlows({ ask: elsewhere?.ask, windows: older, projectId });
  const rows = await ask<FlowRow>(flowsQuery(query, here, olderRows));
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
}

const FLOW =
  'project_id text, requested_model text, provider text, ' + 'is_cached boolean, outcome text, n bigint, weight float8';

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

const flowsQuery = (query: SampleQuery, windows: readonly SampleWindow[], older: readonly object[]): SQL => sql`
  select *, sum(requests) over () as whole from (
    select project_id, requested_model, provider, is_cached, sum(weight * n) as requests,
      sum(weight * n) filter (where outcome = 'success') as success,
      sum(weight * n) filter (where outcome = 'error') as failed
    from (
      select found.*, w.weight from ${windowsTable(windows)}, lateral (
        select project_id::text as project_id, requested_model, ${TARGET_OF_ROW} as provider,
          ${CACHE_OF_ROW} <> 'miss' as is_cached, ${OUTCOME_OF_ROW} as outcome, coalesce(refused_count, 1) as n
        from gateway_logs where ${inWindow(query)} offset 0
      ) as found
      union all select project_id, requested_model, provider, is_cached, outcome, n, weight from ${asTable(older, FLOW)}
    ) as ways
    group by 1, 2, 3, 4
  ) as flows
  order by requests desc, project_id, requested_model, provider limit ${MOST_FLOWS}`;
