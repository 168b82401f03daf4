import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { histogramCount, unpackHistogram } from '@llm0/core/logs/histogram';
import type { Database } from '@llm0/drizzle/client';
import { findPrincipalByHash } from '@llm0/drizzle/queries/access/find-principal';
import { loadRankedDays } from '@llm0/drizzle/queries/ranked-durations';
import { ANY_PROJECT } from '@llm0/drizzle/queries/rollup-deltas';
import { loadOverview } from '@llm0/drizzle/queries/stats';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { benchKeyHash } from '../load/bench-keys';
import { generateCache } from './generate-cache';
import { generateKeys } from './generate-keys';
import { generateRows } from './generate-rows';

const SETUP_MS = 60_000;
const DAY_MS = 86_400_000;
/** Long ago: days of this suite's own. */
const NOW_MS = Date.UTC(2019, 5, 10, 12);
const ROWS = 3001;
const DAYS = 4;
const RANGE = `at >= '2019-06-01' and at < '2019-06-11'`;

describe('generators', () => {
  let database: Database;
  beforeAll(async () => {
    // A real server where there is one.
    const kind = TEST_DATABASES.at(-1);
    if (kind === undefined) throw new Error('no database to test on');
    database = await kind.open();
    await generateRows(database, { rows: ROWS, days: DAYS, nowMs: NOW_MS });
  }, SETUP_MS);
  afterAll(() => database.close());

  const number = async (statement: string) => {
    const [row] = await database.client.unsafe<{ n: string }[]>(statement);
    return Number(row?.n);
  };

  test('rows are spread over all days, every one with a request', async () => {
    const within = RANGE.replaceAll('at ', 'created_at ');
    expect(await number(`select count(*) as n from gateway_logs where ${within}`)).toBe(ROWS);
    expect(await number(`select count(distinct created_at::date) as n from gateway_logs where ${within}`)).toBe(DAYS);
    expect(
      await number(`select count(*) as n from gateway_logs where created_at >= '2019-06-10 12:00'
      and created_at < '2019-06-11'`),
    ).toBe(0);
  });

  test.each(['rollup_hour', 'rollup_day'])('%s adds up to the rows', async (table) => {
    const rows = RANGE.replaceAll('at ', 'created_at ');
    const bucket = RANGE.replaceAll('at ', 'bucket ');
    expect(await number(`select sum(requests) as n from ${table} where ${bucket}`)).toBe(ROWS);
    for (const sum of ['cost_usd', 'saved_usd', 'tokens_in', 'tokens_out']) {
      const of = (name: string, range: string) => number(`select sum(${sum}) as n from ${name} where ${range}`);
      expect(await of(table, bucket)).toBe(await of('gateway_logs', rows));
    }
  });

  test('durations of the days that are over are ranked', async () => {
    expect([...(await loadRankedDays(database.db, Date.UTC(2019, 5, 1), NOW_MS))]).toHaveLength(DAYS - 1);
    expect(await number(`select count(*) as n from rollup_durations where bucket = '2019-06-08'`)).toBeGreaterThan(50);
  });

  test('durations of the hours that are over are ranked', async () => {
    const hours = "bucket < '2019-06-11'";
    const made = await number(`select count(*) as n from rollup_durations_hour_made where ${hours}`);
    expect(made).toBeGreaterThan(2 * 24);
    expect(await number(`select count(distinct bucket) as n from rollup_durations_hour where ${hours}`)).toBe(made);
  });

  test('the week that is over is added up by customer', async () => {
    for (const sum of ['request_count', 'total_spend_usd']) {
      const days = await number(
        `select sum(${sum}) as n from customer_spend where date >= '2019-06-03' and date < '2019-06-10'`,
      );
      expect(days).toBeGreaterThan(0);
      expect(await number(`select sum(${sum}) as n from customer_spend_week where week = '2019-06-03'`)).toBe(days);
    }
  });

  test('the hours that are over are added up by customer, of each project and of all', async () => {
    const rows = await number(`select count(*) as n from gateway_logs
      where created_at >= '2019-06-07' and created_at < '2019-06-10 11:00'`);
    const hours = (projects: string) =>
      number(
        `select sum(request_count) as n from customer_spend_hour where bucket < '2019-06-11' and project_id ${projects}`,
      );
    expect(rows).toBeGreaterThan(ROWS / 2);
    expect(await hours(`= '${ANY_PROJECT}'`)).toBe(rows);
    expect(await hours(`<> '${ANY_PROJECT}'`)).toBe(rows);
  });

  test('minutes are kept for two days only', async () => {
    const kept = await number(`select sum(requests) as n from rollup_minute where bucket < '2019-06-11'`);
    expect(kept).toBeGreaterThan(ROWS / DAYS);
    expect(kept).toBeLessThan(ROWS);
    const durations = (table: string) =>
      number(`select sum(llm0_histogram_count(e)) as n from ${table}, unnest(latency_histogram) as e
        where bucket < '2019-06-11'`);
    expect(await durations('rollup_minute')).toBeGreaterThan(ROWS / DAYS);
    expect(await durations('rollup_latency_short')).toBe(await durations('rollup_minute'));
  });

  test('histograms have the bins of the gateway', async () => {
    const [own] = await database.client.unsafe<{ bins: string[] }[]>(`
      select latency_histogram::text[] as bins from rollup_day where bucket = '2019-06-09' and cache = 'miss'
        and status = 'success' order by requests desc limit 1`);
    const [gateway] = await database.client.unsafe<{ bins: string[] }[]>(`
      select array_agg((bin << 40) + n order by bin)::text[] as bins from (
        select llm0_histogram_bin((llm0_histogram_of(latency_ms))[1])::bigint as bin, count(*) as n
        from gateway_logs g join (
          select * from rollup_day where bucket = '2019-06-09' and cache = 'miss' and status = 'success'
          order by requests desc limit 1
        ) as r on g.project_id = r.project_id and g.api_key_id = r.api_key_id and g.model = r.model
          and g.status = r.status and not g.cache_hit and not g.semantic_cache_hit
          and g.created_at >= '2019-06-09' and g.created_at < '2019-06-10'
        group by 1
      ) as counted`);
    const bins = parseBins(own?.bins);
    expect(bins).toEqual(parseBins(gateway?.bins));
    expect(histogramCount(unpackHistogram(bins))).toBeGreaterThan(0);
  });

  test('the stats of the admin API read them', async () => {
    const range = { fromMs: NOW_MS - 5 * DAY_MS, toMs: NOW_MS, nowMs: NOW_MS };
    const overview = await loadOverview(database.db, range);
    expect(overview.requests).toBe(ROWS);
    expect(overview.durations.upstream.p50).toBeGreaterThan(200);
    expect(overview.exactHits).toBeGreaterThan(ROWS / 5);
  });

  test('customers and errors add up too', async () => {
    const spent = await number(`select sum(request_count) as n from customer_spend where date < '2019-06-11'`);
    expect(spent).toBe(ROWS);
    const errors = await number(`select sum(requests) as n from rollup_error where bucket < '2019-06-11'`);
    expect(errors).toBe(
      await number(`select count(*) as n from gateway_logs where error_code is not null and created_at < '2019-06-11'`),
    );
  });

  test('cache entries are good for days', async () => {
    await generateCache(database.client, 50, 4);
    const found = await number(`select count(*) as n from exact_cache c join projects p on p.id = c.project_id
      where p.name like 'bench rows %' and c.expires_at > now() and c.created_at < now()`);
    expect(found).toBe(50);
  });

  test('keys are those that the load sends', async () => {
    const [project] = await database.client<{ id: string }[]>`insert into projects (name) values ('keys') returning id`;
    const projectId = project?.id ?? '';
    await generateKeys(database.client, projectId, 20);
    for (const index of [0, 19]) {
      const principal = await findPrincipalByHash(database.db, benchKeyHash(index));
      expect(principal).toMatchObject({ project: { id: projectId }, key: { isActive: true } });
    }
    expect(await findPrincipalByHash(database.db, benchKeyHash(20))).toBeNull();
    expect(await number(`select count(*) as n from customer_limits where project_id = '${projectId}'`)).toBe(20);
  });
});

/** Arrays come as text where the client knows no array types. */
function parseBins(value: unknown): number[] {
  const list = Array.isArray(value) ? value : String(value).replace(/[{}]/g, '').split(',');
  return list.map(Number);
}
