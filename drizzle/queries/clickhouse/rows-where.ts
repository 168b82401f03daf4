import { type SQL, sql } from 'drizzle-orm';
import { HAS_FAILED, WAS_JUDGED } from '../logs/failovers';
import type { LogFilter, LogMatch, ProviderAsked } from '../logs/logs';
import { MODALITY_OF_ROW, OUTCOME_OF_ROW, PROVIDER_OF_ROW, WAS_SENT } from '../stats/read/segment-sql';
import { instantOf, isOfProjects, labelOf, listOf } from './segment-rows';

type Values = string | readonly string[];

const isOneOf = (column: SQL, values: Values): SQL => {
  const list = [values].flat();
  return list.length === 0 ? sql`false` : sql`${column} in (${listOf(list)})`;
};
const anyOf = (conditions: readonly SQL[]) =>
  conditions.length === 0 ? sql`false` : sql`(${sql.join([...conditions], sql` or `)})`;

const CACHE_CONDITIONS = {
  semantic: sql`semantic_cache_hit`,
  exact: sql`cache_hit and not semantic_cache_hit`,
  miss: sql`not cache_hit and not semantic_cache_hit`,
} as const;

const provider = sql`nullIf(${PROVIDER_OF_ROW}, '')`;

/** Conditions as `MATCHES` of `../logs/logs.ts` has them. */
const MATCHES: { readonly [K in keyof Required<LogMatch>]: (value: NonNullable<LogMatch[K]>) => readonly SQL[] } = {
  projectId: (ids) => [isOfProjects(ids)],
  apiKeyId: (ids) => [isOneOf(sql`api_key_id`, ids)],
  model: (models) => [anyOf([isOneOf(sql`model`, models), isOneOf(sql`requested_model`, models)])],
  answeringModel: (models) => [isOneOf(sql`model`, models)],
  requestedModel: (models) => [isOneOf(sql`requested_model`, models)],
  provider: (names) => [isOneOf(provider, names)],
  status: (statuses) => [isOneOf(sql`status`, statuses)],
  outcome: (outcomes) => [isOneOf(OUTCOME_OF_ROW, outcomes)],
  httpStatus: (statuses) => [isOneOf(sql`toString(http_status)`, statuses)],
  errorCode: (codes) => [isOneOf(sql`error_code`, codes)],
  cache: (outcomes) => [anyOf([outcomes].flat().map((outcome) => sql`(${CACHE_CONDITIONS[outcome]})`))],
  guardrail: (rules) => [
    sql`guardrails is not null and arrayExists(mark -> ${isOneOf(sql`JSONExtractString(mark, 'rule')`, rules)},
      JSONExtractArrayRaw(ifNull(guardrails, '[]')))`,
  ],
  customerId: (ids) => [isOneOf(sql`customer_id`, ids)],
  modality: (modalities) => [isOneOf(MODALITY_OF_ROW, modalities)],
  labels: (labels) =>
    Object.entries(labels).map(
      ([name, values]) => sql`(mapContains(labels, ${name}) and ${isOneOf(labelOf(name), values)})`,
    ),
};

const LATENCIES = {
  latency: sql`latency_ms`,
  ttft: sql`ttft_ms`,
  overhead: sql`overhead_ms`,
  upstream: sql`upstream_ms`,
} as const;

/** Columns that `q` looks into. */
const TEXTS = ['model', 'requested_model', 'customer_id', 'client_request_id', 'error_code', 'error_message'];

type OtherFilter = Omit<LogFilter, keyof LogMatch | 'not' | 'searchesBodies' | 'failoverFrom' | 'switched'>;

/** The row's provider, or one that it left. */
const wasAsked = ({ provider, failedIds = [] }: ProviderAsked, how: SQL): SQL | undefined =>
  anyOf([sql`(${PROVIDER_OF_ROW} = ${provider} and ${how})`, isOneOf(sql`id`, failedIds)]);

/** One condition for each other filter that is set. */
const FILTERS: {
  readonly [K in keyof Required<OtherFilter>]: (
    value: NonNullable<OtherFilter[K]>,
    filter: LogFilter,
  ) => SQL | undefined;
} = {
  requestId: (id) => sql`id = ${id}`,
  requestIds: (ids) => isOneOf(sql`id`, ids),
  sentTo: (asked) => wasAsked(asked, WAS_JUDGED),
  failedAt: (asked) => wasAsked(asked, HAS_FAILED),
  sent: (wasSent) => sql`${WAS_SENT} = ${wasSent}`,
  runId: (id) => sql`run_id = ${id}`,
  traceId: (id) => sql`trace_id = ${id}`,
  fromMs: (ms) => sql`created_at >= ${instantOf(Math.ceil(ms))}`,
  toMs: (ms) => sql`created_at < ${instantOf(Math.ceil(ms))}`,
  minCostNanoUsd: (nano) => sql`cost_usd >= toDecimal64(${nano}, 9) / 1000000000`,
  latencyOf: () => undefined,
  minLatencyMs: (ms, { latencyOf = 'latency' }) => sql`${LATENCIES[latencyOf]} >= ${ms}`,
  maxLatencyMs: (ms, { latencyOf = 'latency' }) => sql`${LATENCIES[latencyOf]} <= ${ms}`,
  stream: (isStream) => sql`stream = ${isStream}`,
  minTokens: (tokens) => sql`tokens_total >= ${tokens}`,
  maxTokens: (tokens) => sql`tokens_total <= ${tokens}`,
  q: (text, filter) =>
    anyOf([
      ...TEXTS.map((column) => sql`positionCaseInsensitiveUTF8(ifNull(${sql.raw(column)}, ''), ${text}) > 0`),
      sql`toString(id) = ${text.toLowerCase()}`,
      ...(filter.searchesBodies === true ? [inBodies(text, filter)] : []),
    ]),
};

/**
 * The text stands in a string of the kept prompt or answer. The cheap look comes first; the expression then leaves out
 * names of fields, which a colon follows.
 */
function inBodies(text: string, { fromMs, toMs }: LogFilter): SQL {
  const literal = JSON.stringify(text).slice(1, -1);
  const escaped = literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = `(?is)(?:^|[,:\\[{]\\s*)"(?:[^"\\\\]|\\\\.)*?${escaped}(?:[^"\\\\]|\\\\.)*"(?:\\s*[,}\\]]|\\s*$)`;
  const has = (body: string) =>
    sql`(positionCaseInsensitiveUTF8(ifNull(${sql.raw(body)}, ''), ${literal}) > 0
      and match(ifNull(${sql.raw(body)}, ''), ${pattern}))`;
  const conditions = [
    sql`(${has('request_body')} or ${has('response_body')})`,
    ...(fromMs === undefined ? [] : [sql`created_at >= ${instantOf(Math.ceil(fromMs))}`]),
    ...(toMs === undefined ? [] : [sql`created_at < ${instantOf(Math.ceil(toMs))}`]),
  ];
  return sql`id in (select id from gateway_log_bodies where ${sql.join(conditions, sql` and `)})`;
}

function matchConditions(match: LogMatch): readonly SQL[] {
  const apply = <K extends keyof LogMatch>(name: K): readonly SQL[] => {
    const value = match[name];
    return value === undefined || value === null ? [] : MATCHES[name](value);
  };
  return (Object.keys(MATCHES) as (keyof LogMatch)[]).flatMap((name) => apply(name));
}

/** All that a row must meet. Switches between providers are in Postgres alone: see `withoutSwitches`. */
export function rowsWhere(filter: LogFilter, ...more: readonly SQL[]): SQL {
  const apply = <K extends keyof OtherFilter>(name: K) => {
    const value = filter[name];
    return value === undefined || value === null ? undefined : FILTERS[name](value, filter);
  };
  const conditions = [
    ...matchConditions(filter),
    ...matchConditions(filter.not ?? {}).map((condition) => sql`not ifNull(${condition}, false)`),
    ...(Object.keys(FILTERS) as (keyof OtherFilter)[]).map((name) => apply(name)),
    ...more,
  ].filter((condition) => condition !== undefined);
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}
