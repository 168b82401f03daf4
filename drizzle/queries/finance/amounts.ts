import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { nanoFromUsd } from '../../money';
import { asTable } from '../clickhouse/as-table';
import { askSpend } from '../clickhouse/group-rows';
import { rowsBefore } from '../clickhouse/log-engine';
import { divideRows } from '../clickhouse/segment-rows';
import type { ProjectScope } from '../of-projects';
import { type GroupBy, SPEND_SUMS, type StatsFilter } from '../stats/read/questions';
import type { Stretch } from '../stats/read/read-days';
import { CACHE_OF_ROW, groupOf, MODALITY_OF_ROW, PROVIDER_OF_ROW, tableOf, within } from '../stats/read/segment-sql';
import { type Ask, askInTime } from '../stats/read/time-limit';
import type { StatsSegment } from '../stats/read/time-segments';
import { loadNames, loadTotals } from '../stats/read/totals';

const DAY_MS = 86_400_000;
/** Time limit for reading a month of rows day by day. */
export const ROWS_LIMIT_MS = 20_000;

export interface AmountFilter extends StatsFilter {
  /** In rows only. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface AmountQuery {
  readonly by: GroupBy;
  readonly filter: AmountFilter;
}

/** Spend of one group on one model. */
export interface Amount {
  /** '' for none. */
  readonly group: string;
  /** Null if unknown: daily sums of customers have no model. */
  readonly model: { readonly provider: string; readonly name: string } | null;
  /** Null for the same reason, and in months that were closed before they had one. */
  readonly modality: string | null;
  /** Null for the same reason as the model. */
  readonly cache: 'exact' | 'semantic' | 'miss' | null;
  readonly requests: number;
  readonly costNanoUsd: number;
  readonly savedNanoUsd: number;
  readonly tokensCacheRead: number;
  readonly tokensCacheWrite: number;
  /** Set for closed months, at the prices of the close; absent = at today's. */
  readonly savedVendorPico?: bigint;
  /** The closed month that it corrects, `YYYY-MM`. */
  readonly correctionOf?: string;
}

/** Estimated spend of one group on one model. */
export type Estimated = Pick<Amount, 'group' | 'model' | 'modality' | 'costNanoUsd' | 'correctionOf'>;

interface AmountRow extends Readonly<Record<string, unknown>> {
  readonly grp: string;
  readonly provider: string;
  readonly model: string;
  readonly modality: string;
  readonly cache: 'exact' | 'semantic' | 'miss';
  readonly requests: string;
  readonly cost_usd: string;
  readonly saved_usd: string;
  readonly tokens_cache_read: string;
  readonly tokens_cache_write: string;
}

const AMOUNT =
  'grp text, provider text, model text, modality text, cache text, ' +
  'requests bigint, cost_usd numeric, saved_usd numeric, tokens_cache_read bigint, tokens_cache_write bigint';
const ROW_COLUMNS = sql`${PROVIDER_OF_ROW} as provider, model, ${MODALITY_OF_ROW} as modality, ${CACHE_OF_ROW} as cache,
  coalesce(refused_count, 1) as requests, cost_usd, saved_usd, tokens_cache_read, tokens_cache_write`;
const ROLLUP_COLUMNS = sql.raw(
  'provider, model, modality, cache, requests, cost_usd, saved_usd, tokens_cache_read, tokens_cache_write',
);

const labelled = ({ labels = {} }: AmountFilter): SQL =>
  Object.keys(labels).length === 0 ? sql`true` : sql`labels @> ${JSON.stringify(labels)}::jsonb`;

/** Sums by group, model, modality and cache over stretches of rows and roll-ups. */
async function askAmounts(ask: Ask, segments: readonly StatsSegment[], { by, filter }: AmountQuery) {
  if (segments.length === 0) return [];
  const scope = { ...filter, groupBy: by };
  const here = segments.filter(({ elsewhere }) => elsewhere === undefined);
  const parts = here.map((segment) => {
    const isRows = segment.source === 'rows';
    return sql`select ${groupOf(segment, scope)} as grp, ${isRows ? ROW_COLUMNS : ROLLUP_COLUMNS}
      from ${tableOf(segment, { ...scope, groupBy: 'modality' })} where ${within(segment, scope)} and ${isRows ? labelled(filter) : sql`true`}`;
  });
  parts.push(sql`select * from ${await askOlder(ask, segments, { scope, labels: filter.labels })}`);
  const rows = await ask<AmountRow>(sql`
    select grp, provider, model, modality, cache, sum(requests) as requests, sum(cost_usd) as cost_usd, sum(saved_usd) as saved_usd,
      sum(tokens_cache_read) as tokens_cache_read, sum(tokens_cache_write) as tokens_cache_write
    from (${sql.join(parts, sql` union all `)}) as parts group by 1, 2, 3, 4, 5
    having sum(requests) <> 0 or sum(cost_usd) <> 0 or sum(saved_usd) <> 0`);
  return rows.map(
    (row): Amount => ({
      group: row.grp,
      model: { provider: row.provider, name: row.model },
      modality: row.modality,
      cache: row.cache,
      requests: Number(row.requests),
      costNanoUsd: nanoFromUsd(row.cost_usd),
      savedNanoUsd: nanoFromUsd(row.saved_usd),
      tokensCacheRead: Number(row.tokens_cache_read),
      tokensCacheWrite: Number(row.tokens_cache_write),
    }),
  );
}

/** Sums of rows that Postgres no longer has. */
async function askOlder(ask: Ask, segments: readonly StatsSegment[], scope: Parameters<typeof askSpend>[1]) {
  const rows = await askSpend(segments, scope);
  if (rows.length === 0) return asTable([], AMOUNT);
  const nameOf = await loadNames(ask, scope.scope);
  return asTable(
    rows.map((row) => ({ ...row, grp: nameOf(String(row.grp)) })),
    AMOUNT,
  );
}

/** Amounts from the roll-ups, within 3 s. */
export async function loadAmounts(db: Db, segments: readonly StatsSegment[], query: AmountQuery) {
  const divided = divideRows(segments, await rowsBefore(db, startOf(segments)));
  return askInTime(db, (ask) => askAmounts(ask, divided, query));
}

const startOf = (segments: readonly StatsSegment[]) => Math.min(...segments.map(({ fromMs }) => fromMs));

export interface StretchAmounts extends Stretch {
  readonly amounts: readonly Amount[];
}

/**
 * Amounts from rows, in stretches of at most a UTC day that end at `bounds`, with pauses between. Throws
 * `QuestionTooLargeError` at the limit.
 */
export async function loadAmountsOfRows(
  db: Db,
  { fromMs, toMs, bounds }: Stretch & { readonly bounds: readonly number[] },
  query: AmountQuery,
): Promise<readonly StretchAmounts[]> {
  const endMs = performance.now() + ROWS_LIMIT_MS;
  const elsewhere = await rowsBefore(db, fromMs);
  const stretches: StretchAmounts[] = [];
  for (let atMs = fromMs; atMs < toMs; ) {
    const nextDayMs = (Math.floor(atMs / DAY_MS) + 1) * DAY_MS;
    const untilMs = Math.min(toMs, nextDayMs, ...bounds.filter((bound) => bound > atMs));
    const segments = divideRows([{ source: 'rows', fromMs: atMs, toMs: untilMs }], elsewhere);
    const amounts = await askInTime(db, (ask) => askAmounts(ask, segments, query), endMs - performance.now());
    stretches.push({ fromMs: atMs, toMs: untilMs, amounts });
    atMs = untilMs;
  }
  return stretches;
}

/** Customers of all requests, or of one project's; of them only requests and money are known. */
export async function loadCustomerAmounts(db: Db, segments: readonly StatsSegment[], projectId: ProjectScope) {
  const scope = { projectId, groupBy: 'customer', sums: SPEND_SUMS } as const;
  const divided = divideRows(segments, await rowsBefore(db, startOf(segments)));
  const found = await askInTime(db, (ask) => loadTotals(ask, divided, scope));
  return found.map(
    ({ group, totals }): Amount => ({
      group: group ?? '',
      model: null,
      modality: null,
      cache: null,
      requests: totals.requests,
      costNanoUsd: totals.costNanoUsd,
      savedNanoUsd: totals.savedNanoUsd,
      tokensCacheRead: 0,
      tokensCacheWrite: 0,
    }),
  );
}

/** Spend that the gateway estimated because the vendor reported no usage. */
export async function loadEstimated(
  db: Db,
  range: Stretch,
  { by, filter }: AmountQuery,
): Promise<readonly Estimated[]> {
  const scope = { ...filter, groupBy: by };
  const segments = divideRows([{ source: 'rows', ...range }], await rowsBefore(db, range.fromMs));
  const rows = await askInTime(db, async (ask) => {
    const older = await askOlder(ask, segments, { scope, labels: filter.labels, isEstimated: true });
    const parts = segments.filter(isOfRequestsHere).map(
      (segment) => sql`select ${groupOf(segment, scope)} as grp, ${PROVIDER_OF_ROW} as provider, model,
          ${MODALITY_OF_ROW} as modality, cost_usd
        from gateway_logs where ${within(segment, scope)} and ${labelled(filter)} and cost_estimated`,
    );
    parts.push(sql`select grp, provider, model, modality, cost_usd from ${older}`);
    return ask<Readonly<Record<'grp' | 'provider' | 'model' | 'modality' | 'cost_usd', string>>>(sql`
      select grp, provider, model, modality, sum(cost_usd) as cost_usd
      from (${sql.join(parts, sql` union all `)}) as parts group by 1, 2, 3, 4`);
  });
  return rows.map((row) => ({
    ...{ group: row.grp, model: { provider: row.provider, name: row.model }, modality: row.modality },
    costNanoUsd: nanoFromUsd(row.cost_usd),
  }));
}

const isOfRequestsHere = ({ elsewhere, isOfCalls }: StatsSegment) => elsewhere === undefined && isOfCalls !== true;

export interface DaysQuery extends AmountQuery {
  readonly fromMs: number;
  readonly toMs: number;
  /** Only these groups. */
  readonly groups?: readonly string[];
}

/** Nano-USD of each UTC day, by group; days without are zero. With `customer` of all requests or one project's. */
export async function loadDays(db: Db, query: DaysQuery): Promise<ReadonlyMap<string, readonly number[]>> {
  const { fromMs, toMs, by, filter, groups: kept } = query;
  const source = by === 'customer' ? 'customer_spend' : 'rollup_day';
  const sums = ['requests', 'cost_usd'] as const;
  const scope = { ...filter, groupBy: by, intervalMs: DAY_MS, sums, kept };
  const found = await askInTime(db, (ask) => loadTotals(ask, [{ source, fromMs, toMs }], scope));
  const days = new Map<string, number[]>();
  for (const { startMs, group, totals } of found) {
    const empty = () => Array.from({ length: Math.round((toMs - fromMs) / DAY_MS) }, () => 0);
    const series = days.getOrInsertComputed(group ?? '', empty);
    series[Math.round((startMs - fromMs) / DAY_MS)] = totals.costNanoUsd;
  }
  return days;
}
