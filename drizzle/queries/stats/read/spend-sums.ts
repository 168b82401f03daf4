import type { RebuildData } from '@llm0/core/limits/hot-store';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../../client';
import { nanoFromUsd } from '../../../money';
import { asTable } from '../../clickhouse/as-table';
import { askDays } from '../../clickhouse/group-rows';
import { type RowsElsewhere, rowsBefore } from '../../clickhouse/log-engine';
import { instant } from '../../instant';
import { listAllCustomerLimits } from '../../limits/customer-limits';
import { raiseLogFence } from '../../logs/log-fence';
import { lockLogWrites } from '../../logs/partitions';
import { utcDay } from '../utc-day';

interface SpendRow extends Record<string, unknown> {
  project_id: string;
  name: string;
  period: string;
  usd: string;
}

/**
 * All spend for a rebuild of the hot store: two months, two days (UTC) and key totals. From the daily roll-ups, which
 * are exact. Batches read earlier are rejected afterwards: see `log-fence.ts`.
 */
export async function loadSpend(db: Db, nowMs: number): Promise<RebuildData> {
  return db.transaction(async (tx) => {
    await lockLogWrites(tx);
    await raiseLogFence(tx);
    return sumSpend(tx, nowMs);
  });
}

async function sumSpend(db: Db, nowMs: number): Promise<RebuildData> {
  const firstMonth = startOfLastMonth(nowMs);
  const firstDay = sql`${utcDay(nowMs - 86_400_000)}::date`;
  const byMonth = (dimension: SQL) =>
    spendRows(
      db,
      sql`select project_id, ${dimension} as name, to_char(bucket at time zone 'UTC', 'YYYY-MM') as period,
        sum(cost_usd) as usd from rollup_day where bucket >= ${firstMonth}::timestamp at time zone 'UTC' group by 1, 2, 3`,
    );
  const projectMonths = await byMonth(sql`''`);
  const keyMonths = await byMonth(sql`api_key_id::text`);
  const keyTotals = await spendRows(
    db,
    sql`select project_id, api_key_id::text as name, '' as period, sum(cost_usd) as usd from rollup_day group by 1, 2`,
  );
  const customerDays = await spendRows(
    db,
    sql`select project_id, customer_id as name, date::text as period, total_spend_usd as usd
      from customer_spend where date >= ${firstDay}`,
  );
  const customerMonths = await spendRows(
    db,
    sql`select project_id, customer_id as name, to_char(date, 'YYYY-MM') as period, sum(total_spend_usd) as usd
      from customer_spend where date >= ${firstMonth}::date group by 1, 2, 3`,
  );
  const customerLimits = await listAllCustomerLimits(db);
  const [cache] = await db.execute<{ until_ms: number }>(
    sql`select coalesce(extract(epoch from max(expires_at)) * 1000, 0)::float8 as until_ms from exact_cache`,
  );
  return {
    warmCacheUntilMs: cache?.until_ms,
    projectMonths: projectMonths.map(({ name: _, period, ...row }) => ({ ...row, month: period })),
    keyMonths: keyMonths.map(({ name, period, ...row }) => ({ ...row, keyId: name, month: period })),
    keyTotals: keyTotals.map(({ name, period: _, ...row }) => ({ ...row, keyId: name })),
    customerDays: customerDays.map(({ name, period, ...row }) => ({ ...row, customerId: name, day: period })),
    customerMonths: customerMonths.map(({ name, period, ...row }) => ({ ...row, customerId: name, month: period })),
    customerLimits: customerLimits.map(({ projectId, customerId, limits }) => ({ projectId, customerId, limits })),
  };
}

async function spendRows(db: Db, query: SQL) {
  const rows = await db.execute<SpendRow>(query);
  return rows.map((row) => ({
    projectId: row.project_id,
    name: row.name,
    period: row.period,
    spentNanoUsd: nanoFromUsd(row.usd),
  }));
}

/** `YYYY-MM-01` of the month before this one, UTC. */
function startOfLastMonth(nowMs: number): string {
  const now = new Date(nowMs);
  return utcDay(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
}

export interface MonthSpend {
  readonly projectId: string;
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  readonly spentNanoUsd: number;
}

export interface MonthSumOptions {
  readonly projectId?: string;
  /** First month wanted, `YYYY-MM`. */
  readonly fromMonth: string;
  /** `rows` reads every row of both logs (exact, slow on large tables); `rollups` the daily roll-ups (exact too, and quick). */
  readonly source: 'rows' | 'rollups';
}

const DAY = 'project_id uuid, ms float8, cost_usd numeric';

/** `older`: sums of the rows elsewhere, which Postgres no longer has or is about to drop. */
const allRows = (older: readonly object[], { splitMs = 0, callsMs = 0 }: Partial<RowsElsewhere> = {}) => sql`(
  select project_id, created_at, cost_usd from gateway_logs where created_at >= ${instant(splitMs)}
  union all select project_id, created_at, cost_usd from tool_calls where created_at >= ${instant(callsMs)}
  union all select project_id, to_timestamp(ms / 1000.0), cost_usd from ${asTable(older, DAY)}) as logs`;

/** Σ `cost_usd` of requests and tool calls per project and month: the other side of the ledger law. */
export async function sumMonths(db: Db, options: MonthSumOptions): Promise<readonly MonthSpend[]> {
  const sumsOfRows = async () => {
    const fromMs = Date.parse(`${options.fromMonth}-01`);
    const elsewhere = await rowsBefore(db, fromMs);
    return allRows(await askDays(elsewhere, { fromMs, projectId: options.projectId }), elsewhere);
  };
  const [table, column] = options.source === 'rows' ? [await sumsOfRows(), 'created_at'] : [sql`rollup_day`, 'bucket'];
  const time = sql.identifier(column);
  const project = options.projectId === undefined ? sql`` : sql`and project_id = ${options.projectId}::uuid`;
  const rows = await spendRows(
    db,
    sql`select project_id, '' as name, to_char(${time} at time zone 'UTC', 'YYYY-MM') as period, sum(cost_usd) as usd
      from ${table}
      where ${time} >= ${`${options.fromMonth}-01`}::timestamp at time zone 'UTC' ${project}
      group by 1, 3 order by 3, 1`,
  );
  return rows.map(({ projectId, period, spentNanoUsd }) => ({ projectId, month: period, spentNanoUsd }));
}
