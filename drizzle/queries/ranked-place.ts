import { type SQL, sql } from 'drizzle-orm';
import { ANY_PROJECT } from './rollup-deltas';
import type { StatsSegment } from './stats-range';
import { listOf, type MetricName, type StatsScope } from './stats-sources';

/** Where in `rollup_durations` a scope's rows are: one for each bucket and group. */
export interface RankedPlace {
  readonly dimension: string;
  readonly conditions: readonly SQL[];
  readonly group: SQL;
}

/** Undefined where a scope tells apart by more than one thing beside projects, or by what is not ranked. */
export function rankedPlaceOf(scope: StatsScope): RankedPlace | undefined {
  const { projectId, apiKeyId, model, provider, status, customerId, groupBy } = scope;
  if (customerId !== undefined) return undefined;
  const filters = { key: apiKeyId, model, provider, status };
  const named = Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  const dimensions = new Set(named.map(({ name }) => name));
  if (groupBy !== undefined && groupBy !== 'project') dimensions.add(groupBy);
  const [dimension = 'all', ...more] = dimensions;
  if (more.length > 0 || !(dimension === 'all' || dimension in filters)) return undefined;
  const project =
    projectId !== undefined
      ? sql`project_id = ${projectId}::uuid`
      : sql`project_id ${sql.raw(groupBy === 'project' ? '<>' : '=')} ${ANY_PROJECT}::uuid`;
  const names = named.map(({ name, value }) =>
    name === 'key' ? sql`name = ${value}::uuid::text` : sql`name = ${value}`,
  );
  const group = groupBy === undefined ? sql`null::text` : groupBy === 'project' ? sql`project_id::text` : sql`name`;
  return { dimension, group, conditions: [project, ...names] };
}

export interface RankedRows {
  readonly segment: StatsSegment;
  readonly place: RankedPlace;
  readonly metrics: readonly MetricName[];
  /** Of these groups only, or of all others; absent = of all. */
  readonly kept?: readonly string[];
}

export function withinRanked({ segment, place, metrics, kept }: RankedRows): SQL {
  const { fromMs, toMs, stepHours, onlyOthers } = segment;
  const conditions = [
    sql`step_hours = ${stepHours}::smallint and dimension = ${place.dimension}`,
    sql`metric in (${sql.raw(metrics.map((name) => `'${name}'`).join(', '))})`,
    sql`bucket >= to_timestamp(${fromMs}::bigint / 1000.0) and bucket < to_timestamp(${toMs}::bigint / 1000.0)`,
    ...place.conditions,
    ...(kept === undefined
      ? []
      : [sql`${place.group} ${sql.raw(onlyOthers === true ? 'not in' : 'in')} ${listOf(kept)}`]),
  ];
  return sql.join(conditions, sql` and `);
}
