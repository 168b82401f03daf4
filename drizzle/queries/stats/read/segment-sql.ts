import { FAILURE_CODES } from '@llm0/core/errors/outcome';
import { type SQL, sql } from 'drizzle-orm';
import { ofProjects } from '../../of-projects';
import { CALLS_AS_ROWS, REQUESTS_AS_ROWS } from '../../tool-calls/calls-as-rows';
import { customerDays } from './customer-days';
import { type GroupBy, OTHER_GROUPS, type StatsScope } from './questions';
import type { StatsSegment } from './time-segments';

/** The provider that answered, or the last one that was asked. */
export const PROVIDER_OF_ROW = sql`coalesce(final_provider, provider, '')`;
/** A provider got the request. Refusals name the first provider of their route, but leave before it. */
export const WAS_SENT = sql`(not cache_hit and not semantic_cache_hit
  and (final_provider is not null or attempts is not null or upstream_ms is not null))`;
/** The provider that answered or was asked last, also of an answer from the cache; '' where nobody was asked. */
export const TARGET_OF_ROW = sql`case when cache_hit or semantic_cache_hit or ${WAS_SENT} then ${PROVIDER_OF_ROW} else '' end`;
/** Matches `outcomeOf`. */
export const OUTCOME_OF_ROW = sql.raw(
  `case when status = 'error' and error_code not in (${FAILURE_CODES.map((code) => `'${code}'`).join(', ')})
    then 'caller_error' else status end`,
);
/** Roll-ups keep the outcome. */
const STATUS_OF_ROLLUP = sql.raw(`case when status = 'caller_error' then 'error' else status end`);
export const CACHE_OF_ROW = sql`case when semantic_cache_hit then 'semantic' when cache_hit then 'exact' else 'miss' end`;
/** Embeddings have had one since their rows have the column. */
export const MODALITY_OF_ROW = sql`coalesce(modality, case dialect when 'openai-embeddings' then 'embedding' else 'text' end)`;

/** Where the request's project is now, as statements have it. */
const homeOf = (name: SQL) => sql`coalesce((select ${name} from projects p left join teams t on t.id = p.team_id
  left join organizations o on o.id = t.organization_id where p.id = project_id), '')`;
const HOMES: Readonly<Record<string, SQL>> = {
  team: homeOf(sql`o.name || ' / ' || t.name`),
  cost_center: homeOf(sql`coalesce(p.cost_center, t.cost_center)`),
};

/** Id and name of each project's place. */
export const selectHomes = (groupBy: 'team' | 'cost_center'): SQL =>
  sql`select project_id::text as id, ${HOMES[groupBy]} as name from (select id as project_id from projects) as homes`;

/** Groups that both stores of rows write alike. */
export const GROUPS_OF_ROWS = {
  model: sql`model`,
  provider: PROVIDER_OF_ROW,
  target: sql`${PROVIDER_OF_ROW} || '/' || model`,
  customer: sql`coalesce(customer_id, '')`,
  status: sql`status`,
  outcome: OUTCOME_OF_ROW,
  cache: CACHE_OF_ROW,
  error_code: sql`coalesce(error_code, '')`,
  modality: MODALITY_OF_ROW,
} as const;

/** Group → expression over `gateway_logs` and over the roll-ups that have it; labels are in rows only. */
const ROW_GROUPS: Readonly<Record<string, SQL>> = {
  project: sql`project_id::text`,
  key: sql`api_key_id::text`,
  ...GROUPS_OF_ROWS,
  ...HOMES,
};
const ROLLUP_GROUPS: Readonly<Record<string, SQL>> = {
  project: sql`project_id::text`,
  key: sql`api_key_id::text`,
  model: sql`model`,
  provider: sql`provider`,
  target: sql`provider || '/' || model`,
  status: STATUS_OF_ROLLUP,
  outcome: sql`status`,
  cache: sql`cache`,
  customer: sql`customer_id`,
  error_code: sql`error_code`,
  modality: sql`modality`,
  ...HOMES,
};

export function groupOf(segment: StatsSegment, { groupBy, kept }: StatsScope): SQL {
  return groupBy === undefined ? sql`null::text` : nameOfKept(nameOf(segment, groupBy), kept);
}

/** A group's name, or that of all others. */
function nameOfKept(name: SQL, kept: readonly string[] | undefined): SQL {
  if (kept === undefined) return name;
  return sql`case when ${name} in (select value from jsonb_array_elements_text(${JSON.stringify(kept)}::jsonb))
    then ${name} else ${OTHER_GROUPS} end`;
}

function nameOf(segment: StatsSegment, groupBy: GroupBy): SQL {
  if (groupBy.startsWith('label.')) return sql`coalesce(labels ->> ${groupBy.slice('label.'.length)}, '')`;
  const group = (segment.source === 'rows' ? ROW_GROUPS : ROLLUP_GROUPS)[groupBy];
  if (group === undefined) throw new RangeError(`roll-ups have no ${groupBy}`);
  return group;
}

const timeOf = (segment: StatsSegment) => sql.identifier(segment.source === 'rows' ? 'created_at' : 'bucket');

/** Table of a segment; adds missing columns of smaller roll-ups. */
export function tableOf(segment: StatsSegment, scope: StatsScope): SQL {
  const { groupBy } = scope;
  if (segment.source === 'customer_spend') return customerDays(segment, scope);
  if (segment.source === 'rollup_error')
    return sql`(select bucket, project_id, model, provider, ${OUTCOME_OF_ROW} as status, error_code, requests,
    'miss' as cache, 0 as failovers, ${NO_TOKENS} from rollup_error) as rollup_error`;
  const { source } = segment;
  if (isRollup(source) && (groupBy === 'modality' || scope.modality !== undefined)) return byModality(source);
  if (segment.source !== 'rows') return sql`${sql.identifier(segment.source)}`;
  if (segment.isOfCalls === true) return sql`(${CALLS_AS_ROWS}) as gateway_logs`;
  return groupBy === 'error_code'
    ? sql`(select * from gateway_logs where error_code is not null) as gateway_logs`
    : sql`(${REQUESTS_AS_ROWS} union all ${CALLS_AS_ROWS}) as gateway_logs`;
}

const NO_TOKENS = sql.raw(`0 as tokens_in, 0 as tokens_out, 0 as tokens_cache_read, 0 as tokens_cache_write,
  0 as tokens_reasoning, 0 as cost_usd, 0 as saved_usd`);

/** Roll-ups with the one that tells their modalities, if any. */
const MODALITY_ROLLUPS = {
  rollup_minute: undefined,
  rollup_hour: 'rollup_modality_hour',
  rollup_day: 'rollup_modality_day',
} as const;
const isRollup = (source: string): source is keyof typeof MODALITY_ROLLUPS => Object.hasOwn(MODALITY_ROLLUPS, source);

/** A roll-up with modalities: text is its rows without those of the others. Of these only requests and money are right. */
function byModality(source: keyof typeof MODALITY_ROLLUPS): SQL {
  const others = MODALITY_ROLLUPS[source];
  if (others === undefined) return sql.raw(`(select *, null::text as modality from ${source}) as ${source}`);
  const at = 'bucket, project_id, api_key_id, model, provider, cache';
  const names = ['requests', 'tokens_cache_read', 'tokens_cache_write', 'cost_usd', 'saved_usd'];
  const sums = (sign: '' | '-') => names.map((name) => sign + name).join(', ');
  const none = `'success' as status, 0 as tokens_in, 0 as tokens_out, 0 as tokens_reasoning, 0 as failovers`;
  return sql.raw(`(select ${at}, 'text' as modality, ${sums('')}, ${none} from ${source}
    union all select ${at}, modality, ${sums('')}, ${none} from ${others}
    union all select ${at}, 'text', ${sums('-')}, ${none} from ${others}) as ${source}`);
}

export function startOf(segment: StatsSegment, intervalMs: number | undefined): SQL {
  if (intervalMs === undefined) return sql`0::bigint`;
  const step = sql.raw(String(Math.trunc(intervalMs)));
  // date_part counts in doubles, exact to the millisecond; extract would in numerics, many times slower.
  return sql`((date_part('epoch', ${timeOf(segment)}) * 1000)::bigint / ${step}) * ${step}`;
}

export function within(segment: StatsSegment, scope: StatsScope): SQL {
  const time = timeOf(segment);
  const isRows = segment.source === 'rows';
  const provider = isRows ? PROVIDER_OF_ROW : sql`provider`;
  const status = isRows ? sql`status` : STATUS_OF_ROLLUP;
  const outcome = isRows ? OUTCOME_OF_ROW : sql`status`;
  const cache = isRows ? CACHE_OF_ROW : sql`cache`;
  const conditions = [
    sql`${time} >= to_timestamp(${segment.fromMs}::bigint / 1000.0)`,
    sql`${time} < to_timestamp(${segment.toMs}::bigint / 1000.0)`,
    scope.projectId === undefined ? undefined : ofProjects(scope.projectId),
    scope.apiKeyId === undefined ? undefined : sql`api_key_id = ${scope.apiKeyId}::uuid`,
    scope.model === undefined ? undefined : sql`model = ${scope.model}`,
    scope.provider === undefined ? undefined : sql`${provider} = ${scope.provider}`,
    scope.status === undefined ? undefined : sql`${status} = ${scope.status}`,
    scope.outcome === undefined ? undefined : sql`${outcome} = ${scope.outcome}`,
    scope.cache === undefined ? undefined : sql`${cache} = ${scope.cache}`,
    scope.customerId === undefined ? undefined : sql`customer_id = ${scope.customerId}`,
    scope.modality === undefined ? undefined : sql`${isRows ? MODALITY_OF_ROW : sql`modality`} = ${scope.modality}`,
  ];
  return sql.join(
    conditions.filter((condition) => condition !== undefined),
    sql` and `,
  );
}
