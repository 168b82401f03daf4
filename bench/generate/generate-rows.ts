// Log rows and their roll-ups by set-based SQL, a day at a time: rows go into a table of their own that becomes a partition
// afterwards, so that its indexes are built at once.

import type { Database } from '@llm0/drizzle/client';
import type { Sql, SqlTransaction } from './open-sql';
import { rankShapes, rowShapes } from './row-shapes';

export interface RowsWish {
  readonly rows: number;
  readonly days: number;
  readonly nowMs: number;
  readonly onDay?: (done: number) => void;
}

const DAY_MS = 86_400_000;
const MINUTES_KEPT_MS = 2 * DAY_MS;
const AT_ONCE = 2;
const CUSTOMERS = 1000;
/** A random slot is a kind of row, by weight. */
const SLOTS = 50_000;

/** Puts rows of the last days into `gateway_logs` and all roll-ups; projects and keys of their own. Returns how many. */
export async function generateRows({ client: sql }: Pick<Database, 'client'>, wish: RowsWish): Promise<number> {
  await createShapes(sql);
  const existing = await sql<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'gateway_logs'::regclass`;
  const partitions = new Set(existing.map(({ name }) => name));
  const today = wish.nowMs - (wish.nowMs % DAY_MS);
  const days = Array.from({ length: wish.days }, (_, index) => today - index * DAY_MS);
  let next = 0;
  let made = 0;
  const work = async () => {
    for (let index = next++; index < days.length; index = next++) {
      const startMs = days[index] ?? today;
      const rows = Math.floor(wish.rows / wish.days) + (index < wish.rows % wish.days ? 1 : 0);
      await generateDay(sql, { startMs, rows, nowMs: wish.nowMs, partitions });
      made += rows;
      wish.onDay?.(made);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  await sql`drop table bench_shapes, bench_slots`;
  await sql`analyze gateway_logs, rollup_minute, rollup_hour, rollup_day, customer_spend, rollup_error`;
  return made;
}

/** The kinds of rows with their projects and keys, beside which a random number finds its kind. */
async function createShapes(sql: Sql): Promise<void> {
  const shapes = JSON.stringify(rankShapes(rowShapes()).map((shape, index) => ({ ...shape, shape: index })));
  await sql.begin(async (tx) => {
    await tx`drop table if exists bench_shapes, bench_slots`;
    await tx`create unlogged table bench_shapes as
      select s.*, null::uuid as project_id, null::uuid as api_key_id
      from jsonb_to_recordset(${shapes}::text::jsonb) as s(shape int, project int, key int, model text, provider text,
        status text, "httpStatus" int, "errorCode" text, cache text, "upTo" float8)`;
    await tx`create unlogged table bench_slots as
      select slot, shape, cache, status
      from (select *, coalesce(lag("upTo") over (order by "upTo"), 0) as "from" from bench_shapes) as s,
        generate_series(floor("from" * ${SLOTS}::float8)::int, floor("upTo" * ${SLOTS}::float8)::int - 1) as slot`;
    await tx`analyze bench_slots`;
    await tx`with made as (
        insert into projects (id, name) select gen_random_uuid(), 'bench rows ' || project
        from (select distinct project from bench_shapes) p returning id, name
      ) update bench_shapes s set project_id = made.id from made where made.name = 'bench rows ' || s.project`;
    await tx`with made as (
        insert into api_keys (project_id, name, key_hash, key_prefix)
        select project_id, 'bench rows ' || key, encode(sha256(gen_random_uuid()::text::bytea), 'hex'), 'bench'
        from (select distinct project_id, key from bench_shapes) k returning id, project_id, name
      ) update bench_shapes s set api_key_id = made.id
      from made where made.project_id = s.project_id and made.name = 'bench rows ' || s.key`;
  });
}

interface DayWish {
  readonly startMs: number;
  readonly rows: number;
  readonly nowMs: number;
  readonly partitions: ReadonlySet<string>;
}

async function generateDay(sql: Sql, { startMs, rows, nowMs, partitions }: DayWish): Promise<void> {
  const day = new Date(startMs).toISOString().slice(0, 10);
  const partition = `gateway_logs_${day.replaceAll('-', '')}`;
  const isNew = !partitions.has(partition);
  await sql.begin(async (tx) => {
    await tx.unsafe(`set local work_mem = '256MB'; set local synchronous_commit = off`);
    await createFacts(tx, rows, startMs, Math.min(startMs + DAY_MS, nowMs));
    if (isNew) {
      await tx.unsafe(`create table ${partition} (like gateway_logs including defaults including constraints)`);
    }
    await tx.unsafe(`insert into ${isNew ? partition : 'gateway_logs'} (${ROW_COLUMNS}) select ${ROW_VALUES}
      from (select ${ID} as id, f.* from bench_facts f) as f join bench_shapes s using (shape)`);
    await writeRollup(tx, 'hour');
    await writeRollup(tx, 'day');
    if (nowMs - startMs < MINUTES_KEPT_MS) await writeRollup(tx, 'minute');
    await tx.unsafe(CUSTOMER_SPEND);
    await tx.unsafe(ERRORS);
    if (isNew) {
      const to = new Date(startMs + DAY_MS).toISOString().slice(0, 10);
      await tx.unsafe(`alter table gateway_logs attach partition ${partition}
        for values from ('${day} 00:00:00+00') to ('${to} 00:00:00+00')`);
    }
  });
}

/** Random requests of one day. Money is whole nano-dollars, durations are skewed as real ones are. */
async function createFacts(tx: SqlTransaction, rows: number, fromMs: number, toMs: number): Promise<void> {
  await tx.unsafe(`create temp table bench_facts on commit drop as
    select at, shape, tokens_in, tokens_out, customer, overhead, upstream,
      case when cache = 'miss' and status = 'success' then tokens_in * 150 + tokens_out * 600 else 0 end as nano,
      case when cache <> 'miss' then tokens_in * 150 + tokens_out * 600 else 0 end as saved,
      overhead + coalesce(upstream, 0) as latency, overhead + upstream * 0.3 as ttft
    from (
      select r.*, cache, status, shape,
        case when cache = 'miss' and status <> 'rate_limited' then 200 + 4000 * slow end as upstream
      from (
        select to_timestamp((${fromMs} + floor(random() * ${Math.max(1, toMs - fromMs)})) / 1000.0) as at,
          (50 + 3000 * power(random(), 3))::bigint as tokens_in, (20 + 800 * power(random(), 2))::bigint as tokens_out,
          floor(${CUSTOMERS} * power(random(), 2))::int as customer, 0.3 + 2 * power(random(), 4) as overhead,
          power(random(), 3) as slow, floor(random() * ${SLOTS})::int as slot
        from generate_series(1, ${rows})
      ) as r join bench_slots using (slot)
    ) as requests`);
}

const ROW_COLUMNS = `id, request_id, created_at, project_id, api_key_id, dialect, model, requested_model, provider,
  final_provider, tokens_in, tokens_out, tokens_total, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_usd,
  saved_usd, cost_detail, cost_estimated, latency_ms, overhead_ms, upstream_ms, ttft_ms, stream, cache_hit,
  semantic_cache_hit, failover_count, failover_occurred, status, http_status, error_code, customer_id, labels`;

const ROW_VALUES = `f.id, f.id, f.at, s.project_id, s.api_key_id, 'openai-chat', s.model, s.model, s.provider, s.provider,
  f.tokens_in, f.tokens_out, f.tokens_in + f.tokens_out, 0, 0, 0, f.nano * 0.000000001, f.saved * 0.000000001,
  '{"price_source":"seed"}'::jsonb, false, f.latency, f.overhead, f.upstream, f.ttft, f.customer % 2 = 0,
  s.cache = 'exact', s.cache = 'semantic', 0, false, s.status, s."httpStatus", s."errorCode",
  'customer-' || f.customer, jsonb_build_object('team', 'team-' || f.customer % 7)`;

/** A UUID of version 7 from the row's time, so that ids are as close together as real ones. */
const ID = `(lpad(to_hex((extract(epoch from f.at) * 1000)::bigint), 12, '0') || '7' ||
  substr(md5(random()::text), 1, 3) || '8' || substr(md5(random()::text), 1, 15))::uuid`;

const METRICS = ['latency', 'ttft', 'overhead', 'upstream'] as const;
/** The same bins as `llm0_histogram_of`. */
const binOf = (name: string) =>
  `case when ${name} <= 0.001 then 0 else least(600, ceil(ln(${name} / 0.001) / ln(1.02 / 0.98)))::bigint end`;

type Unit = 'minute' | 'hour' | 'day';
const bucketOf = (unit: Unit) => `date_bin('1 ${unit}', at, '2000-01-01 00:00:00+00')`;

async function writeRollup(tx: SqlTransaction, unit: Unit): Promise<void> {
  const histograms = METRICS.map(
    (name) => `left join (
      select bucket, shape, string_agg(int4send((n * 1024 + bin)::int), ''::bytea order by bin) as bins from (
        select ${bucketOf(unit)} as bucket, shape, ${binOf(name)} as bin, count(*) as n
        from bench_facts where ${name} is not null group by 1, 2, 3
      ) as counted group by 1, 2
    ) as ${name}_bins using (bucket, shape)`,
  );
  await tx.unsafe(`insert into rollup_${unit} (bucket, project_id, api_key_id, model, provider, status, cache, requests,
      tokens_in, tokens_out, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_usd, saved_usd, failovers,
      latency_histogram, ttft_histogram, overhead_histogram, upstream_histogram)
    select sums.bucket, s.project_id, s.api_key_id, s.model, s.provider, s.status, s.cache, requests, tokens_in,
      tokens_out, 0, 0, 0, nano * 0.000000001, saved * 0.000000001, 0,
      ${METRICS.map((name) => `coalesce(${name}_bins.bins, '')`).join(', ')}
    from (
      select ${bucketOf(unit)} as bucket, shape, count(*) as requests, sum(tokens_in) as tokens_in,
        sum(tokens_out) as tokens_out, sum(nano) as nano, sum(saved) as saved
      from bench_facts group by 1, 2
    ) as sums join bench_shapes s using (shape) ${histograms.join(' ')}`);
}

const CUSTOMER_SPEND = `insert into customer_spend (project_id, customer_id, date, request_count, tokens_in, tokens_out,
    total_spend_usd, saved_usd)
  select s.project_id, 'customer-' || f.customer, f.at::date, count(*), sum(f.tokens_in), sum(f.tokens_out),
    sum(f.nano) * 0.000000001, sum(f.saved) * 0.000000001
  from bench_facts f join bench_shapes s using (shape) group by 1, 2, 3`;

const ERRORS = `insert into rollup_error (bucket, project_id, model, provider, status, error_code, requests)
  select date_trunc('hour', f.at), s.project_id, s.model, s.provider, s.status, s."errorCode", count(*)
  from bench_facts f join bench_shapes s using (shape) where s."errorCode" is not null group by 1, 2, 3, 4, 5, 6`;
