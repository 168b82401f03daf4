import { and, eq, gte, ilike, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { usdFromNano } from '../../money';
import { gatewayLogBodies, gatewayLogs } from '../../schema/gateway-logs';
import { containsPattern } from '../contains-pattern';
import { ofProjects } from '../of-projects';
import { Rows, type Stored } from '../rows';
import { MODALITY_OF_ROW, OUTCOME_OF_ROW, PROVIDER_OF_ROW, WAS_SENT } from '../stats/read/segment-sql';
import { failedAt, HAS_FAILED, HAS_LEFT, isSwitch, type Switch, WAS_JUDGED } from './failovers';

/** Rows of all requests that passed authentication. */
export const logRows = new Rows(gatewayLogs);
/** A row of `gateway_logs`; money in nano-USD, milliseconds fractional. */
export type StoredLog = Stored<typeof logRows>;

/** One value, or any of several. */
type Values<T extends string = string> = T | readonly T[];

/** Conditions of a row; all must hold. */
export interface LogMatch {
  readonly projectId?: Values;
  readonly apiKeyId?: Values;
  /** Answering or requested model. */
  readonly model?: Values;
  /** The answering model; without an answer, the first target's. */
  readonly answeringModel?: Values;
  readonly requestedModel?: Values;
  /** The answering provider; without an answer, the first target's. */
  readonly provider?: Values;
  readonly status?: Values;
  /** Of `packages/core/src/errors/outcome.ts`. */
  readonly outcome?: Values;
  readonly httpStatus?: Values;
  readonly errorCode?: Values;
  readonly cache?: Values<'exact' | 'semantic' | 'miss'>;
  /** A rule of the guardrails that left a mark. */
  readonly guardrail?: Values;
  readonly customerId?: Values;
  /** Of `MODALITIES`. */
  readonly modality?: Values;
  /** Each label must have its value, or one of its values. */
  readonly labels?: Readonly<Record<string, Values>>;
}

const { latencyMs, ttftMs, overheadMs, upstreamMs } = gatewayLogs;
const LATENCIES = { latency: latencyMs, ttft: ttftMs, overhead: overheadMs, upstream: upstreamMs } as const;
type LatencyOf = keyof typeof LATENCIES;

export interface ProviderAsked {
  readonly provider: string;
  /** Requests that it failed and left, for ClickHouse, which has no switches. */
  readonly failedIds?: readonly string[];
}

export interface LogFilter extends LogMatch {
  readonly requestId?: string;
  /** Any of these. */
  readonly requestIds?: readonly string[];
  /** Requests of one agent run. */
  readonly runId?: string;
  readonly traceId?: string;
  /** Failed at this provider or found it paused, then answered by another target. */
  readonly failoverFrom?: string;
  /** A provider answered, or failed by its own fault; other targets may have answered then. */
  readonly sentTo?: ProviderAsked;
  /** A provider failed by its own fault; itself or other targets may have answered then. */
  readonly failedAt?: ProviderAsked;
  readonly switched?: Switch;
  /** A provider got it. */
  readonly sent?: boolean;
  /** Excludes matching rows; a row without the field doesn't match. */
  readonly not?: LogMatch;
  /** Start, inclusive. */
  readonly fromMs?: number;
  /** Up to here, exclusive. */
  readonly toMs?: number;
  readonly minCostNanoUsd?: number;
  /** Duration that the latency bounds apply to; the whole latency by default. */
  readonly latencyOf?: LatencyOf;
  readonly minLatencyMs?: number;
  readonly maxLatencyMs?: number;
  readonly stream?: boolean;
  /** In and out, both inclusive. */
  readonly minTokens?: number;
  readonly maxTokens?: number;
  /** Part of a model, customer, client request id, error code or message; ignores case. */
  readonly q?: string;
  /** `q` also looks into kept prompts and answers. */
  readonly searchesBodies?: boolean;
}

const CACHE_CONDITIONS = {
  semantic: sql`${gatewayLogs.semanticCacheHit}`,
  exact: sql`${gatewayLogs.cacheHit} and not ${gatewayLogs.semanticCacheHit}`,
  miss: sql`not ${gatewayLogs.cacheHit} and not ${gatewayLogs.semanticCacheHit}`,
} as const satisfies Record<'exact' | 'semantic' | 'miss', SQL>;

const listOf = <T extends string>(values: Values<T>): readonly T[] =>
  typeof values === 'string' ? [values] : (values as readonly T[]);

/** The column has one of the values. */
function isOneOf(column: PgColumn | SQL, values: Values, type?: 'uuid' | 'int'): SQL {
  const cast = type === undefined ? sql`` : sql.raw(`::${type}`);
  const given = listOf(values).map((value) => sql`${value}${cast}`);
  return given.length === 1 ? sql`${column} = ${given[0]}` : sql`${column} in (${sql.join(given, sql`, `)})`;
}

const anyOf = (conditions: readonly SQL[]) => sql`(${sql.join([...conditions], sql` or `)})`;
const labelIs = (name: string, values: Values) =>
  anyOf(listOf(values).map((value) => sql`${gatewayLogs.labels} @> ${JSON.stringify({ [name]: value })}::jsonb`));

/** A condition for each field; one for each label. */
const MATCHES: { readonly [K in keyof Required<LogMatch>]: (value: NonNullable<LogMatch[K]>) => readonly SQL[] } = {
  projectId: (ids) => [ofProjects(ids, sql`${gatewayLogs.projectId}`)],
  apiKeyId: (ids) => [isOneOf(gatewayLogs.apiKeyId, ids, 'uuid')],
  model: (models) => [anyOf([isOneOf(gatewayLogs.model, models), isOneOf(gatewayLogs.requestedModel, models)])],
  answeringModel: (models) => [isOneOf(gatewayLogs.model, models)],
  requestedModel: (models) => [isOneOf(gatewayLogs.requestedModel, models)],
  provider: (names) => [isOneOf(sql`coalesce(${gatewayLogs.finalProvider}, ${gatewayLogs.provider})`, names)],
  status: (statuses) => [isOneOf(gatewayLogs.status, statuses)],
  outcome: (outcomes) => [isOneOf(OUTCOME_OF_ROW, outcomes)],
  httpStatus: (statuses) => [isOneOf(gatewayLogs.httpStatus, statuses, 'int')],
  errorCode: (codes) => [isOneOf(gatewayLogs.errorCode, codes)],
  cache: (outcomes) => [anyOf(listOf(outcomes).map((outcome) => sql`(${CACHE_CONDITIONS[outcome]})`))],
  guardrail: (rules) => [
    sql`${gatewayLogs.guardrails} is not null and ${anyOf(
      listOf(rules).map((rule) => sql`${gatewayLogs.guardrails} @> ${JSON.stringify([{ rule }])}::jsonb`),
    )}`,
  ],
  customerId: (ids) => [isOneOf(gatewayLogs.customerId, ids)],
  modality: (modalities) => [isOneOf(MODALITY_OF_ROW, modalities)],
  labels: (labels) => Object.entries(labels).map(([name, values]) => labelIs(name, values)),
};

const OF_ROW = sql`f.created_at = ${gatewayLogs.createdAtMs} and f.request_id = ${gatewayLogs.requestId}`;
const hasSwitch = (condition: SQL) =>
  sql`(${gatewayLogs.failoverOccurred} and exists (select 1 from failover_logs f where ${OF_ROW} and ${condition}))`;

/** The row's provider, or one that it left. */
const wasAsked = ({ provider }: ProviderAsked, how: SQL): SQL =>
  sql`((${PROVIDER_OF_ROW} = ${provider} and ${how}) or ${hasSwitch(failedAt(provider))})`;

type OtherFilter = Omit<LogFilter, keyof LogMatch | 'not' | 'searchesBodies'>;

/** One condition for each other filter that is set. */
const FILTERS: {
  readonly [K in keyof Required<OtherFilter>]: (
    value: NonNullable<OtherFilter[K]>,
    filter: LogFilter,
  ) => SQL | undefined;
} = {
  requestId: (id) => eq(gatewayLogs.requestId, id),
  requestIds: (ids) => (ids.length === 0 ? sql`false` : isOneOf(sql`${gatewayLogs.requestId}`, ids, 'uuid')),
  runId: (id) => eq(gatewayLogs.runId, id),
  traceId: (id) => eq(gatewayLogs.traceId, id),
  failoverFrom: (provider) => {
    const switches = sql`from failover_logs f where ${OF_ROW}`;
    return sql`${gatewayLogs.failoverOccurred} and exists (select 1 ${switches} and f.fallback_succeeded)
      and exists (select 1 ${switches} and f.original_provider = ${provider} and ${HAS_LEFT})`;
  },
  sentTo: (asked) => wasAsked(asked, WAS_JUDGED),
  failedAt: (asked) => wasAsked(asked, HAS_FAILED),
  switched: (wanted) => hasSwitch(isSwitch(wanted)),
  sent: (wasSent) => sql`${WAS_SENT} = ${wasSent}`,
  fromMs: (ms) => gte(gatewayLogs.createdAtMs, ms),
  toMs: (ms) => lt(gatewayLogs.createdAtMs, ms),
  minCostNanoUsd: (nano) => sql`${gatewayLogs.costNanoUsd} >= ${usdFromNano(nano)}::numeric`,
  latencyOf: () => undefined,
  minLatencyMs: (ms, { latencyOf = 'latency' }) => gte(LATENCIES[latencyOf], ms),
  maxLatencyMs: (ms, { latencyOf = 'latency' }) => lte(LATENCIES[latencyOf], ms),
  stream: (isStream) => eq(gatewayLogs.stream, isStream),
  minTokens: (tokens) => gte(gatewayLogs.tokensTotal, tokens),
  maxTokens: (tokens) => lte(gatewayLogs.tokensTotal, tokens),
  q: (text, filter) => {
    const pattern = containsPattern(text);
    const { model, requestedModel, customerId, clientRequestId, errorCode, errorMessage } = gatewayLogs;
    return or(
      ...[model, requestedModel, customerId, clientRequestId, errorCode, errorMessage].map((at) => ilike(at, pattern)),
      sql`${gatewayLogs.requestId}::text = ${text.toLowerCase()}`,
      filter.searchesBodies ? inBodies(text, filter) : undefined,
    );
  },
};

/**
 * The text stands in a string of the kept prompt or answer. Rows and bodies have the same time, so that the subquery
 * reads no more than the stretch. The cheap look at the JSON text comes first; names of fields don't count.
 */
function inBodies(text: string, { fromMs, toMs, requestId: one }: LogFilter): SQL {
  const { requestId, createdAtMs, requestBody, responseBody } = gatewayLogBodies;
  const literal = JSON.stringify(text);
  const pattern = containsPattern(literal.slice(1, -1));
  const path = `$.** ? (@ like_regex ${literal} flag "iq")`;
  const has = (body: PgColumn) => sql`${body}::text ilike ${pattern} and jsonb_path_exists(${body}, ${path}::jsonpath)`;
  const where = and(
    sql`((${has(requestBody)}) or (${has(responseBody)}))`,
    fromMs === undefined ? undefined : gte(createdAtMs, fromMs),
    toMs === undefined ? undefined : lt(createdAtMs, toMs),
    one === undefined ? undefined : eq(requestId, one),
  );
  return sql`${gatewayLogs.requestId} in (select ${requestId} from ${gatewayLogBodies} where ${where})`;
}

function matchConditions(match: LogMatch): readonly SQL[] {
  const apply = <K extends keyof LogMatch>(name: K): readonly SQL[] => {
    const value = match[name];
    return value === undefined || value === null ? [] : MATCHES[name](value);
  };
  return (Object.keys(MATCHES) as (keyof LogMatch)[]).flatMap((name) => apply(name));
}

/** All that a row must meet. */
export function logConditions(filter: LogFilter): (SQL | undefined)[] {
  const apply = <K extends keyof OtherFilter>(name: K) => {
    const value = filter[name];
    return value === undefined || value === null ? undefined : FILTERS[name](value, filter);
  };
  return [
    ...matchConditions(filter),
    ...matchConditions(filter.not ?? {}).map((condition) => sql`(${condition}) is not true`),
    ...(Object.keys(FILTERS) as (keyof OtherFilter)[]).map((name) => apply(name)),
  ];
}
