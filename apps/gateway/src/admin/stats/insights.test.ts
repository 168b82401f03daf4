import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin, storeRecords } from '../admin.fixture';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

describe.each(TEST_DATABASES)('dashboard queries, on $name', (kind) => {
  let admin: AdminUnderTest;
  let projectId: string;
  const nowMs = Date.now();
  const hourMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS - 5 * HOUR_MS;
  const from = new Date(Math.floor(nowMs / DAY_MS) * DAY_MS - 9 * DAY_MS).toISOString();

  beforeAll(async () => {
    admin = await openAdmin(kind);
    projectId = (await admin.createProject({ monthly_cap_usd: 1, cost_center: 'cc-9' })).id;
    const at = (days: number, more: object) =>
      sampleRecord({ projectId, createdAtMs: nowMs - days * DAY_MS - 1000, ...more });
    await storeRecords(admin, [
      at(0, { costNanoUsd: 500_000_000, customerId: 'ann', model: 'a', modality: 'image' }),
      at(0, { costNanoUsd: 100_000_000, customerId: 'bob', model: 'b' }),
      at(8, { costNanoUsd: 50_000_000, customerId: 'bob', model: 'b', labels: { team: 'red' } }),
      at(8, { costNanoUsd: 1_000, model: 'c' }),
      at(2, { costNanoUsd: 0, status: 'error', httpStatus: 502, errorCode: 'upstream_error', errorMessage: 'needle' }),
      at(2, { costNanoUsd: 0, status: 'error', httpStatus: 400, errorCode: 'invalid_request' }),
      at(2, { costNanoUsd: 0, status: 'error', httpStatus: 502, errorCode: 'upstream_error' }),
      at(8, { costNanoUsd: 0, errorMessage: 'needle of old', status: 'error', httpStatus: 500, errorCode: 'internal' }),
    ]);
  }, 60_000);
  afterAll(() => admin.close());

  const get = async (path: string) => {
    const answer = await admin.call('GET', path);
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.anything()]);
    return answer.body;
  };
  const whole = (kind: string, query: string) =>
    get(`/stats/${kind}?project_id=${projectId}&from=${from}&interval=all&${query}`);
  const costs = (body: { buckets: { group: string; cost_usd: string }[] }) =>
    Object.fromEntries(body.buckets.map((bucket) => [bucket.group, bucket.cost_usd]));

  test('one bucket over all, by customer from the daily roll-up, the rest of the day from rows', async () => {
    const body = await whole('spend', 'group_by=customer');
    expect(costs(body)).toEqual({ '': '0.000001', ann: '0.5', bob: '0.15' });
    expect(body).toMatchObject({ groups: 3, partial: false, partial_from: null });
    expect(body.buckets.every((bucket: { start: string }) => bucket.start === from)).toBe(true);
  });

  test('the dearest groups keep their names, the others come as one', async () => {
    const body = await whole('spend', 'group_by=model&top=2');
    expect(costs(body)).toEqual({ a: '0.5', b: '0.15', '(other)': '0.000001' });
    expect(body.groups).toBe(4);
  });

  test('by the team that the project is in now, and by its cost center', async () => {
    expect(costs(await whole('spend', 'group_by=team'))).toEqual({ 'default / default': '0.650001' });
    expect(costs(await whole('spend', 'group_by=cost_center'))).toEqual({ 'cc-9': '0.650001' });
  });

  test('by modality from the rows of the last 7 days, and says since when', async () => {
    const body = await whole('spend', 'group_by=modality');
    expect(costs(body)).toEqual({ image: '0.5', text: '0.1' });
    expect(body).toMatchObject({ partial: true, partial_from: expect.any(String) });
    expect(costs(await whole('spend', 'group_by=model&modality=image'))).toEqual({ a: '0.5' });
  });

  test('errors by code', async () => {
    const { buckets } = await whole('errors', 'group_by=error_code');
    expect(
      Object.fromEntries(buckets.map((bucket: { group: string; requests: number }) => [bucket.group, bucket.requests])),
    ).toEqual({
      internal: 1,
      invalid_request: 1,
      upstream_error: 2,
    });
  });

  test('filters hold', async () => {
    expect(costs(await whole('spend', 'group_by=model&model=a'))).toEqual({ a: '0.5' });
    expect((await get(`/stats/overview?project_id=${projectId}&from=${from}&status=error`)).requests).toBe(4);
    expect(costs(await whole('spend', 'group_by=model&customer_id=ann'))).toEqual({ a: '0.5' });
  });

  test('labels are read from rows, 7 days back at most, and that is said', async () => {
    const body = await whole('spend', 'group_by=label.team');
    expect(body.partial).toBe(true);
    expect(Date.parse(body.partial_from)).toBeGreaterThan(nowMs - 7.1 * DAY_MS);
    expect(costs(body)).toEqual({ '': '0.6' });
    const recent = `/stats/spend?project_id=${projectId}&from=${new Date(nowMs - HOUR_MS).toISOString()}&group_by=label.team`;
    expect((await get(recent)).partial).toBe(false);
  });

  test('texts are searched in the whole range', async () => {
    const asked = `/logs?project_id=${projectId}&q=needle&from=${from}`;
    const { data, partial, next_cursor: next } = await get(asked);
    expect(data.map((row: { error_message: string }) => row.error_message)).toEqual(['needle', 'needle of old']);
    expect([partial, next]).toEqual([undefined, null]);
    const exported = await admin.call('GET', `${asked}&format=ndjson`);
    expect(exported.text.trim().split('\n').length).toBe(2);
  });

  test('pages of a search are whole: no row twice, none left out', async () => {
    const project = crypto.randomUUID();
    const rows = Array.from({ length: 25 }, (_, index) =>
      sampleRecord({
        projectId: project,
        createdAtMs: nowMs - Math.floor(index / 2) * 5 * HOUR_MS,
        customerId: 'find-me',
      }),
    );
    await storeRecords(admin, rows);
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await get(`/logs?project_id=${project}&q=find-me&limit=3${cursor}`);
      seen.push(...page.data.map((row: { id: string }) => row.id));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '');
    expect(seen.length).toBe(25);
    expect(new Set(seen)).toEqual(new Set(rows.map((row) => row.id)));
  });

  test('a histogram counts every measured request', async () => {
    const body = await get(`/stats/histogram?project_id=${projectId}&from=${from}&metric=latency`);
    expect(body.requests).toBe(8);
    expect(body.bins.length).toBe(1);
    expect(body.bins[0].from_ms).toBeLessThan(123.5);
    expect(body.bins[0].to_ms).toBeGreaterThan(123.4);
    expect(body.buckets).toEqual([]);
  });

  test('a histogram over time has the same bins in every bucket, and names cache hits', async () => {
    const project = crypto.randomUUID();
    const at = (hours: number, latencyMs: number, more: Partial<LogRecord> = {}) =>
      sampleRecord({ projectId: project, createdAtMs: hourMs + hours * HOUR_MS, latencyMs, ...more });
    await storeRecords(admin, [at(0, 10), at(0, 1000), at(1, 10, { cacheHit: true }), at(3, 1010)]);
    const range = `project_id=${project}&from=${new Date(hourMs).toISOString()}`;
    const { requests, bins, buckets } = await get(`/stats/histogram?${range}&interval=1h`);
    expect(requests).toBe(4);
    expect(bins).toMatchObject([
      { requests: 2, cache_hits: 1 },
      { requests: 2, cache_hits: 0 },
    ]);
    const missed = await get(`/stats/latency?${range}&interval=all&cache=miss`);
    expect(missed.buckets[0]).toMatchObject({ requests: 3 });
    for (const { from_ms, to_ms } of bins) expect(to_ms / from_ms).toBeCloseTo(1.377, 2);
    const start = (hours: number) => new Date(hourMs + hours * HOUR_MS).toISOString();
    expect(buckets).toEqual([
      { start: start(0), requests: [1, 1] },
      { start: start(1), requests: [1, 0] },
      { start: start(3), requests: [0, 1] },
    ]);
  });

  test('differences of a region, and the ways of requests', async () => {
    const project = crypto.randomUUID();
    const at = (hours: number, more: Partial<LogRecord>) =>
      sampleRecord({ projectId: project, createdAtMs: hourMs + hours * HOUR_MS, ...more });
    await storeRecords(admin, [
      ...Array.from({ length: 8 }, () => at(0, { latencyMs: 50 })),
      at(1, {
        latencyMs: 900,
        model: 'slow',
        requestedModel: 'fast',
        finalProvider: 'beta',
        stream: false,
        tokensIn: 980,
      }),
      at(1, { latencyMs: 901, status: 'error', httpStatus: 502, errorCode: 'upstream_error' }),
      at(1, { latencyMs: 2, cacheHit: true }),
    ]);
    const range = `project_id=${project}&from=${new Date(hourMs).toISOString()}`;
    const region = `region_from=${new Date(hourMs + HOUR_MS).toISOString()}&region_to=${new Date(hourMs + 2 * HOUR_MS).toISOString()}`;
    const found = await get(`/stats/differences?${range}&${region}&min_ms=900&max_ms=1000`);
    expect(found).toMatchObject({ inside_requests: 2, outside_requests: 9, sampled: false });
    const shareOf = (field: string, value: string) =>
      found.data.find((row: { field: string; value: string }) => row.field === field && row.value === value);
    expect(shareOf('model', 'slow')).toMatchObject({ inside_share: 0.5, outside_share: 0 });
    expect(shareOf('size', '1000')).toMatchObject({ inside_share: 0.5, outside_share: 0 });
    expect(shareOf('stream', 'true')).toMatchObject({ inside_share: 0.5, outside_share: 1 });
    expect(shareOf('cache', 'exact').inside_share).toBe(0);
    expect(shareOf('cache', 'exact').outside_share).toBeCloseTo(1 / 9, 9);
    const nothing = await get(`/stats/differences?${range}&${region}&min_ms=5000&max_ms=6000`);
    expect(nothing).toMatchObject({ inside_requests: 0, outside_requests: 11 });
    expect(nothing.data[0]).toMatchObject({ inside_share: null });
    for (const [query, param] of [
      [`${range}&${region}&min_ms=2&max_ms=1`, 'min_ms'],
      [`${range}&${region}&min_ms=2`, 'max_ms'],
      [`${range}&region_from=2026-01-02&region_to=2026-01-02&min_ms=1&max_ms=2`, 'region_from'],
    ]) {
      const { status, body } = await admin.call('GET', `/stats/differences?${query}`);
      expect([status, body.error.param]).toEqual([400, param]);
    }
    const way = { project_id: project };
    expect(await get(`/stats/flows?${range}`)).toEqual({
      requests: 11,
      sampled: false,
      data: [
        { ...way, requested_model: 'model-a', provider: 'alpha', cached: false, requests: 9, success: 8, failed: 1 },
        { ...way, requested_model: 'fast', provider: 'beta', cached: false, requests: 1, success: 1, failed: 0 },
        { ...way, requested_model: 'model-a', provider: 'alpha', cached: true, requests: 1, success: 1, failed: 0 },
      ],
    });
  });

  test('customers: the dearest first, with limits, found by part of the name', async () => {
    await admin.call('PUT', `/projects/${projectId}/customers/idle%20one/limits`, {
      body: { daily_spend_limit_usd: 2 },
    });
    const all = await get(`/customers?project_id=${projectId}&from=${from}`);
    expect(all.data.map((row: { customer_id: string }) => row.customer_id)).toEqual(['ann', 'bob', 'idle one']);
    expect(all.data[0]).toMatchObject({ cost_usd: '0.5', has_limits: false, daily_spend_limit_usd: null });
    expect(all.data[2]).toMatchObject({ requests: 0, has_limits: true, daily_spend_limit_usd: '2' });
    const first = await get(`/customers?project_id=${projectId}&from=${from}&limit=2`);
    const rest = await get(`/customers?project_id=${projectId}&from=${from}&limit=2&cursor=${first.next_cursor}`);
    expect([first.data.length, rest.data.length, rest.next_cursor]).toEqual([2, 1, null]);
    expect((await get(`/customers?project_id=${projectId}&from=${from}&q=ID`)).data.length).toBe(1);
    const of = async (filter: string) =>
      (await get(`/customers?project_id=${projectId}&from=${from}&${filter}`)).data.map(
        (row: { customer_id: string }) => row.customer_id,
      );
    expect(await of('has_limits=true')).toEqual(['idle one']);
    expect(await of('has_limits=false')).toEqual(['ann', 'bob']);
    const days = (await get(`/customers?project_id=${projectId}&from=${from}&spend_days=12`)).data;
    const spent = days.map(({ spend_by_day: own }: { spend_by_day: number[] }) => own.filter((usd) => usd > 0));
    expect(spent).toEqual([[0.5], [0.05, 0.1], []]);
    expect(days[1].spend_by_day.length).toBe(12);
    expect(all.data[0].spend_by_day).toBeNull();
    expect((await admin.call('GET', '/customers?cursor=zz')).status).toBe(400);
  });

  test('budgets: the tightest first, deleted ones left out', async () => {
    await admin.call('POST', `/projects/${projectId}/keys`, { body: { name: 'k', budget_usd: 3 } });
    const { data } = await get(`/budgets?project_id=${projectId}`);
    expect(data.map((budget: { scope: string }) => budget.scope)).toEqual(['project', 'customer', 'key']);
    expect(data[0]).toMatchObject({ limit_usd: '1', period: 'month' });
    expect(data[0].share).toBeCloseTo(Number(data[0].used_usd), 9);
    expect(data[0].share).toBeGreaterThanOrEqual(0.6);
    expect((await get('/budgets?limit=1')).data.length).toBe(1);
    for (const scope of ['project', 'key', 'customer']) {
      const of = (await get(`/budgets?project_id=${projectId}&scope=${scope}`)).data;
      expect(of.map((budget: { scope: string }) => budget.scope)).toEqual([scope]);
    }
  });

  test('the system says what it is', async () => {
    expect(await get('/system')).toMatchObject({ version: '9.9.9', hot_store: 'embedded', demo_data: true });
    expect((await get('/models/unpriced')).data).toEqual([]);
    expect((await get('/failovers')).data).toBeInstanceOf(Array);
  });

  test.each(['1h', '1m', 'all'])(
    'health is what the provider itself answered or failed, every %s',
    async (interval) => {
      const project = crypto.randomUUID();
      const createdAtMs = Date.parse(from) + 5 * HOUR_MS;
      const row = (more: Partial<LogRecord> = {}) => sampleRecord({ projectId: project, createdAtMs, ...more });
      const failed = (errorCode: string, more: Partial<LogRecord> = {}) =>
        row({ status: 'error', httpStatus: 502, errorCode, finalProvider: undefined, ...more });
      type Tried = readonly (readonly [provider: string, outcome: string, latencyMs: number])[];
      const tried = (attempts: Tried) =>
        attempts.map(([provider, outcome, latencyMs]) => ({ provider, outcome, latencyMs, model: 'm', startMs: 0 }));
      const switched = (...attempts: Tried) => ({
        ...{ provider: attempts[0]?.[0], finalProvider: attempts.at(-1)?.[0] },
        ...{ failoverCount: 1, attempts: tried(attempts) },
      });
      const refused = {
        ...{ status: 'rate_limited' as const, errorCode: 'rate_limit_exceeded' },
        ...{ finalProvider: undefined, upstreamMs: undefined, attempts: undefined },
      };
      await storeRecords(admin, [
        ...[row(), row(), row({ cacheHit: true }), row(refused)],
        ...['upstream_timeout', 'upstream_timeout', 'upstream_error', 'model_not_found', 'internal'].map((code) =>
          failed(code),
        ),
        row(switched(['alpha', 'timeout', 9], ['beta', 'ok', 5])),
        row(switched(['beta', 'timeout', 9], ['alpha', 'server_error', 9], ['beta', 'ok', 5])),
        row(switched(['alpha', 'breaker_open', 0], ['beta', 'ok', 5])),
        // Nobody answered: each provider failed once, the last one by its row.
        failed(
          'upstream_error',
          switched(['beta', 'timeout', 9], ['beta', 'timeout', 9], ['alpha', 'server_error', 9]),
        ),
        failed('upstream_error', switched(['alpha', 'timeout', 9], ['beta', 'timeout', 9], ['alpha', 'timeout', 9])),
        // The caller is at fault at the second one, or left there.
        failed('upstream_rejected', switched(['beta', 'server_error', 9], ['alpha', 'rejected', 5])),
        row({
          ...switched(['beta', 'timeout', 9], ['alpha', 'aborted', 5]),
          status: 'aborted',
          errorCode: 'client_closed',
        }),
      ]);
      const [start, end] = [0, 3].map((hours) => new Date(createdAtMs + hours * HOUR_MS).toISOString());
      const asked = `project_id=${project}&from=${start}&to=${end}`;
      const body = await get(`/stats/health?${asked}&interval=${interval}`);
      expect(body.buckets).toEqual([
        {
          ...{ start, provider: 'alpha', answered: 2, failed: 7, failed_over: 2, answered_elsewhere: 3 },
          main_failure: 'upstream_error',
        },
        {
          ...{ start, provider: 'beta', answered: 3, failed: 5, failed_over: 1, answered_elsewhere: 1 },
          main_failure: 'upstream_timeout',
        },
      ]);
      // The log lists exactly those, skips included. Beta failed one of its requests and then answered it.
      const counted = async (filter: string) => (await get(`/logs?${asked}&${filter}&count=true`)).count.rows;
      expect(await Promise.all(['alpha', 'beta'].map((name) => counted(`failover_from=${name}`)))).toEqual([3, 1]);
      expect(await Promise.all(['alpha', 'beta'].map((name) => counted(`sent_to=${name}`)))).toEqual([
        2 + 7,
        3 + 5 - 1,
      ]);
      expect(await Promise.all(['alpha', 'beta'].map((name) => counted(`failed_at=${name}`)))).toEqual([7, 5]);
      // So does the route map, where each request has one place.
      const flows: readonly { provider: string; cached: boolean; requests: number }[] = (
        await get(`/stats/flows?${asked}`)
      ).data;
      const mapped = (name: string) =>
        flows.reduce((sum, { cached, provider, requests }) => sum + (cached || provider !== name ? 0 : requests), 0);
      const places = ['provider=alpha&sent=true', 'provider=beta&sent=true', 'sent=false&cache=miss'];
      expect(await Promise.all(places.map(counted))).toEqual(['alpha', 'beta', ''].map(mapped));
      expect(mapped('')).toBeGreaterThan(0);
    },
  );

  test('viewers see whose a webhook is, not its address: of alerts and of every change of one', async () => {
    const body = { name: 'hidden', kind: 'spend', webhook_url: 'https://hooks.example.com/services/T0/secret-one' };
    const { body: alert } = await admin.call('POST', '/alerts', { body });
    await admin.call('PATCH', `/alerts/${alert.id}`, { body: { webhook_url: `${body.webhook_url}-more` } });
    await admin.call('DELETE', `/alerts/${(await admin.call('POST', '/alerts', { body })).body.id}`);
    const { token } = (await admin.call('POST', '/tokens', { body: { name: 'looker', role: 'viewer' } })).body;
    for (const path of ['/alerts', '/audit?limit=1000', '/audit?resource=alert', `/audit?resource_id=${alert.id}`]) {
      const seen = await admin.call('GET', path, { token });
      expect([path, seen.status, seen.text.includes('secret-one')]).toEqual([path, 200, false]);
      expect(seen.text).toContain('"https://hooks.example.com/…"');
      expect((await admin.call('GET', path)).text).toContain('secret-one');
    }
    await admin.call('DELETE', `/alerts/${alert.id}`);
  });

  test('alerts: made, changed, tried and deleted; every change in the audit', async () => {
    const body = { name: 'dear', kind: 'spend', threshold: 10, webhook_url: 'https://hooks.example.test/x' };
    const { body: alert } = await admin.call('POST', '/alerts', { body });
    expect(alert).toMatchObject({ ...body, window_minutes: 15, is_active: true, is_firing: false });
    expect((await admin.call('POST', `/alerts/${alert.id}/test`, { body: {} })).status).toBe(201);
    expect(admin.webhooks.at(-1)).toMatchObject({ url: body.webhook_url, body: { event: 'alert_test' } });
    const changed = await admin.call('PATCH', `/alerts/${alert.id}`, { body: { threshold: 20 } });
    expect(changed.body).toMatchObject({ threshold: 20, name: 'dear' });
    expect((await admin.call('DELETE', `/alerts/${alert.id}`)).status).toBe(204);
    expect((await admin.call('PATCH', `/alerts/${alert.id}`, { body: {} })).status).toBe(404);
    const audit = await get(`/audit?resource=alert&resource_id=${alert.id}`);
    expect(audit.data.map((entry: { action: string }) => entry.action)).toEqual(['delete', 'update', 'create']);
    for (const wrong of [
      { webhook_url: 'ftp://x' },
      { kind: 'mood' },
      { window_minutes: 0 },
      { project_id: crypto.randomUUID() },
    ]) {
      expect((await admin.call('POST', '/alerts', { body: { ...body, ...wrong } })).status).toBeOneOf([400, 404]);
    }
  });

  test('made-up data goes the way of real requests: every row queued once, its cost in the counters', async () => {
    const answer = await admin.call('POST', '/demo-data', { body: { days: 1, requests_a_day: 60 } });
    expect(answer.status).toBe(201);
    const entries = await admin.services.hotStore.read(1000, 0);
    expect(entries.length).toBe(answer.body.requests);
    const records = entries.map((entry) => JSON.parse(entry.record));
    expect(await storeRecords(admin, records)).toMatchObject({ inserted: records.length });
    await admin.services.hotStore.acknowledge(entries.map((entry) => entry.entryId));
    const reconcile = await get('/reconcile');
    const made = new Set(records.map((record) => record.projectId));
    const lines = reconcile.projects.filter((line: { project_id: string }) => made.has(line.project_id));
    expect(lines.every((line: { diff_usd: string }) => line.diff_usd === '0')).toBe(true);
    Object.assign(admin.services.config, { environment: 'production' });
    expect((await admin.call('POST', '/demo-data', { body: {} })).status).toBe(403);
    Object.assign(admin.services.config, { environment: 'local' });
  });
});
