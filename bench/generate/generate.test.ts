import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addToHistogram, type Histogram, histogramCount, unpackHistograms } from '@llm0/core/logs/histogram';
import type { Database } from '@llm0/drizzle/client';
import { findPrincipalByHash } from '@llm0/drizzle/queries/access/find-principal';
import { loadOverview } from '@llm0/drizzle/queries/stats/read/load-stats';
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

  test('minutes are kept for two days only', async () => {
    const kept = await number(`select sum(requests) as n from rollup_minute where bucket < '2019-06-11'`);
    expect(kept).toBeGreaterThan(ROWS / DAYS);
    expect(kept).toBeLessThan(ROWS);
    const [row] = await database.client.unsafe<{ packed: Uint8Array }[]>(
      `select string_agg(latency_histogram, ''::bytea) as packed from rollup_minute where bucket < '2019-06-11'`,
    );
    expect(histogramCount(unpackHistograms(row === undefined ? [] : [row.packed]))).toBe(kept);
  });

  test('histograms have the bins of the gateway', async () => {
    const [row] = await database.client.unsafe<{ packed: Uint8Array; durations: string }[]>(`
      select r.latency_histogram as packed, (
        select string_agg(latency_ms::text, ' ') from gateway_logs g
        where g.project_id = r.project_id and g.api_key_id = r.api_key_id and g.model = r.model and g.status = r.status
          and not g.cache_hit and not g.semantic_cache_hit and g.created_at >= '2019-06-09' and g.created_at < '2019-06-10'
      ) as durations
      from rollup_day as r where bucket = '2019-06-09' and cache = 'miss' and status = 'success'
      order by requests desc limit 1`);
    const own: Histogram = new Map();
    for (const ms of row?.durations.split(' ') ?? []) addToHistogram(own, Number(ms));
    const made = unpackHistograms(row === undefined ? [] : [row.packed]);
    expect(made).toEqual(own);
    expect(histogramCount(made)).toBeGreaterThan(0);
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
