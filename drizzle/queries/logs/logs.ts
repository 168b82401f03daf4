import { and, eq, gte, ilike, lt, or, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { usdFromNano } from '../../money';
import { gatewayLogs } from '../../schema/gateway-logs';
import { containsPattern } from '../contains-pattern';
import type { Page, PageRequest } from '../page';
import { Rows, type Stored } from '../rows';

const logRows = new Rows(gatewayLogs);
/** A row of `gateway_logs`; money in nano-USD, milliseconds fractional. */
export type StoredLog = Stored<typeof logRows>;

export interface LogFilter {
  readonly requestId?: string;
  readonly projectId?: string;
  readonly apiKeyId?: string;
  /** Answering or requested model. */
  readonly model?: string;
  /** The provider that answered; where none did, the first target's. */
  readonly provider?: string;
  readonly status?: string;
  readonly cache?: 'exact' | 'semantic' | 'miss';
  readonly customerId?: string;
  /** All must match exactly. */
  readonly labels?: Readonly<Record<string, string>>;
  /** From here on, inclusive. */
  readonly fromMs?: number;
  /** Up to here, exclusive. */
  readonly toMs?: number;
  readonly minCostNanoUsd?: number;
  readonly minLatencyMs?: number;
  /** Part of a model, customer, client request id, error code or message, whatever the case. */
  readonly q?: string;
}

/** Newest first. */
export async function listLogs(db: Db, filter: LogFilter, page: PageRequest): Promise<Page<StoredLog>> {
  return logRows.list(db, page, {}, and(...conditions(filter)));
}

/** null when there is none (yet: a row is visible within 2 s of the answer's end). */
export async function getLogByRequestId(db: Db, requestId: string): Promise<StoredLog | null> {
  return logRows.get(db, { requestId });
}

const CACHE_CONDITIONS = {
  semantic: sql`${gatewayLogs.semanticCacheHit}`,
  exact: sql`${gatewayLogs.cacheHit} and not ${gatewayLogs.semanticCacheHit}`,
  miss: sql`not ${gatewayLogs.cacheHit} and not ${gatewayLogs.semanticCacheHit}`,
} as const satisfies Record<NonNullable<LogFilter['cache']>, SQL>;

/** One condition for each filter that is set. */
const FILTERS: { readonly [K in keyof Required<LogFilter>]: (value: NonNullable<LogFilter[K]>) => SQL | undefined } = {
  requestId: (id) => eq(gatewayLogs.requestId, id),
  projectId: (id) => eq(gatewayLogs.projectId, id),
  apiKeyId: (id) => eq(gatewayLogs.apiKeyId, id),
  model: (model) => or(eq(gatewayLogs.model, model), eq(gatewayLogs.requestedModel, model)),
  provider: (provider) => sql`coalesce(${gatewayLogs.finalProvider}, ${gatewayLogs.provider}) = ${provider}`,
  status: (status) => eq(gatewayLogs.status, status),
  cache: (cache) => CACHE_CONDITIONS[cache],
  customerId: (id) => eq(gatewayLogs.customerId, id),
  labels: (labels) =>
    Object.keys(labels).length === 0 ? undefined : sql`${gatewayLogs.labels} @> ${JSON.stringify(labels)}::jsonb`,
  fromMs: (ms) => gte(gatewayLogs.createdAtMs, ms),
  toMs: (ms) => lt(gatewayLogs.createdAtMs, ms),
  minCostNanoUsd: (nano) => sql`${gatewayLogs.costNanoUsd} >= ${usdFromNano(nano)}::numeric`,
  minLatencyMs: (ms) => gte(gatewayLogs.latencyMs, ms),
  q: (text) => {
    const pattern = containsPattern(text);
    const { model, requestedModel, customerId, clientRequestId, errorCode, errorMessage } = gatewayLogs;
    return or(
      ...[model, requestedModel, customerId, clientRequestId, errorCode, errorMessage].map((at) => ilike(at, pattern)),
      sql`${gatewayLogs.requestId}::text = ${text.toLowerCase()}`,
    );
  },
};

function conditions(filter: LogFilter): (SQL | undefined)[] {
  const apply = <K extends keyof LogFilter>(name: K) => {
    const value = filter[name];
    return value === undefined || value === null ? undefined : FILTERS[name](value);
  };
  return (Object.keys(FILTERS) as (keyof LogFilter)[]).map((name) => apply(name));
}
