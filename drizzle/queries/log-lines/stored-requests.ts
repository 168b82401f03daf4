import type { LostBooking } from '@llm0/core/limits/hot-store';
import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../../client';
import { nanoFromUsd } from '../../money';
import { EngineAwayError } from '../clickhouse/ask-clickhouse';
import { findLateRows } from '../clickhouse/late-rows';
import { engineOf } from '../clickhouse/log-engine';
import { type LogFloor, readLogFloor } from '../clickhouse/log-floor';
import type { StoredLog } from '../logs/logs';
import { type Booking, findBookings, hadAllBefore, isAfter } from './line-batches';

/** A row's time may differ from its hold's: a refusal whose admission arrived late. */
const ROW_APART_MS = 3_600_000;

type WantedRequests = readonly { readonly id: string; readonly createdAtMs: number }[];

/** Requests and tool calls that already have a row. */
export async function findStoredRequests(db: Db, requests: WantedRequests): Promise<ReadonlySet<string>> {
  if (requests.length === 0) return new Set();
  const rows = await db.execute<{ id: string }>(
    sql`select g.request_id as id from gateway_logs g where ${isOneOf(requests)}
      union all select g.request_id from tool_calls g where ${isOneOf(requests)}`,
  );
  return new Set([...rows.map((row) => row.id), ...(await findElsewhere(db, requests)).keys()]);
}

/** Requests that only have the reaper's row for a dead process. */
export async function findLostRequests(db: Db, requests: WantedRequests): Promise<ReadonlyMap<string, LostBooking>> {
  if (requests.length === 0) return new Map();
  const rows = await db.execute<{ id: string; usd: string; at: number }>(sql`
    select g.request_id as id, g.cost_usd as usd, (extract(epoch from g.created_at) * 1000)::float8 as at
    from (select request_id, cost_usd, created_at, error_code from gateway_logs
      union all select request_id, cost_usd, created_at, error_code from tool_calls) as g
    where g.error_code = 'gateway_lost' and ${isOneOf(requests)}`);
  const elsewhere = [...(await findElsewhere(db, requests))].filter(([, { isLost }]) => isLost);
  return new Map([
    ...elsewhere.map(([id, { costNanoUsd, createdAtMs }]) => [id, { costNanoUsd, createdAtMs }] as const),
    ...rows.map(({ id, usd, at }) => [id, { costNanoUsd: nanoFromUsd(usd), createdAtMs: at }] as const),
  ]);
}

/** The floor, if Postgres lacks rows that it never got. */
export async function readLackingFloor(db: Db): Promise<LogFloor | undefined> {
  const floor = engineOf(db) === undefined ? null : await readLogFloor(db);
  return floor?.withoutRowsMs === undefined ? undefined : floor;
}

/** Requests without a row in Postgres. Throws `EngineAwayError` if only ClickHouse could tell. */
async function findElsewhere(db: Db, requests: WantedRequests): Promise<ReadonlyMap<string, Booking>> {
  const floor = await readLackingFloor(db);
  if (floor === undefined) return new Map();
  const ids = requests.map(({ id }) => id);
  const { found, since } = await findBookings(db, ids, floor);
  const others = requests.filter(({ id, createdAtMs }) => !found.has(id) && !isAfter(since, createdAtMs));
  const { rows } =
    others.length === 0 ? { rows: new Map<string, StoredLog>() } : await findLateRows(db, others, ROW_APART_MS);
  return new Map([...Array.from(rows, ([id, row]) => [id, bookingOf(row)] as const), ...found]);
}

/**
 * Costs of requests without a row in Postgres, for a snapshot that begins after the question: the answer has all rows of
 * the snapshot and, of older ones, no others.
 */
export async function askCosts(
  db: Db,
  requestIds: readonly string[],
  floor: LogFloor,
): Promise<(tx: Db) => Promise<ReadonlyMap<string, number>>> {
  const { since } = await findBookings(db, [], floor);
  const wanted = requestIds.map((id) => ({ id, createdAtMs: timeOf(id) }));
  const others = wanted.filter(({ createdAtMs }) => !isAfter(since, createdAtMs));
  const late = others.length === 0 ? undefined : await findLateRows(db, others, ROW_APART_MS);
  return async (tx) => {
    const known = await findBookings(tx, requestIds, floor);
    const rest = requestIds.filter((id) => !known.found.has(id) && late?.asked.has(id) === true);
    if (rest.length > 0 && !(await hadAllBefore(tx, late?.seq ?? 0, known.firstSeq))) {
      throw new EngineAwayError('rows are on their way to ClickHouse');
    }
    const costs = rest.map((id) => [id, late?.rows.get(id)?.costNanoUsd ?? 0] as const);
    return new Map([...costs, ...Array.from(known.found, ([id, { costNanoUsd }]) => [id, costNanoUsd] as const)]);
  };
}

/** Of the gateway's ids, which begin with it; 0 of others. */
const timeOf = (id: string): number => (id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : 0);

const bookingOf = ({ costNanoUsd, createdAtMs, errorCode }: StoredLog): Booking => ({
  ...{ costNanoUsd, createdAtMs },
  isLost: errorCode === 'gateway_lost',
});

function isOneOf(requests: WantedRequests): SQL {
  const times = requests.map((request) => request.createdAtMs);
  return sql`g.created_at between to_timestamp(${Math.floor(Math.min(...times)) - ROW_APART_MS}::bigint / 1000.0)
        and to_timestamp(${Math.ceil(Math.max(...times)) + ROW_APART_MS}::bigint / 1000.0)
      and g.request_id in (select value::uuid
        from jsonb_array_elements_text(${JSON.stringify(requests.map((request) => request.id))}::jsonb))`;
}
