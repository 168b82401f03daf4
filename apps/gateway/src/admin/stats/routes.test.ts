import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { planOf, requestOf, settlementOf } from '@llm0/core/limits/store-rows.fixture';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { QuestionTooLargeError } from '@llm0/drizzle/queries/stats/read/time-limit';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, ENV_TOKEN, openAdmin, storeRecords } from '../admin.fixture';
import { asAdminError } from '../admin-error';

describe.each(TEST_DATABASES)('stats on $name', (kind) => {
  let admin: AdminUnderTest;
  const projectId = crypto.randomUUID();
  // Two whole hours of one UTC day, whatever the time: the day's buckets below count on it.
  const hoursAgo = new Date().getUTCHours() === 2 ? 4 : 3;
  const hourMs = (Math.floor(Date.now() / 3_600_000) - hoursAgo) * 3_600_000;
  beforeAll(async () => {
    admin = await openAdmin(kind);
    const at = (minutes: number) => ({ projectId, createdAtMs: hourMs + minutes * 60_000 });
    await storeRecords(admin, [
      sampleRecord({ ...at(1), costNanoUsd: 1, latencyMs: 100 }),
      sampleRecord({ ...at(2), costNanoUsd: 2, latencyMs: 100, model: 'model-b', labels: { team: 'red' } }),
      sampleRecord({ ...at(61), costNanoUsd: 0, savedNanoUsd: 5, cacheHit: true, customerId: 'ann' }),
      sampleRecord({ ...at(62), costNanoUsd: 0, savedNanoUsd: 6, cacheHit: true, semanticCacheHit: true }),
      sampleRecord({ ...at(63), costNanoUsd: 0, status: 'error', httpStatus: 502 }),
    ]);
  }, 60_000);
  afterAll(() => admin.close());

  const range = `project_id=${projectId}&from=${new Date(hourMs).toISOString()}`;
  const buckets = async (kind: string, query = 'interval=1h') => {
    const answer = await admin.call('GET', `/stats/${kind}?${range}&${query}`);
    expect(answer.status).toBe(200);
    return answer.body.buckets;
  };
  const start = new Date(hourMs).toISOString();
  const next = new Date(hourMs + 3_600_000).toISOString();

  test('overview: exact sums, percentiles, by default of the last 24 h', async () => {
    const expected = {
      requests: 5,
      success: 4,
      cost_usd: '0.000000003',
      saved_usd: '0.000000011',
      tokens_in: 50,
      tokens_out: 100,
      cache_hits: 1,
      semantic_hits: 1,
    };
    const answer = await admin.call('GET', `/stats/overview?${range}`);
    expect(answer.body).toMatchObject(expected);
    expect(answer.body.latency_ms.p50).toBeCloseTo(123, -1);
    for (const name of ['latency_ms', 'ttft_ms', 'overhead_ms', 'upstream_ms']) {
      expect(Object.keys(answer.body[name])).toEqual(['p50', 'p95', 'p99']);
    }
    expect((await admin.call('GET', `/stats/overview?project_id=${projectId}`)).body).toMatchObject(expected);
    const empty = await admin.call('GET', `/stats/overview?project_id=${crypto.randomUUID()}`);
    expect(empty.body).toMatchObject({ requests: 0, cost_usd: '0', latency_ms: { p50: null } });
  });

  test('speeds: the median of each model, of what a provider answered', async () => {
    const speedProject = crypto.randomUUID();
    const row = (tokensOut: number, more: Partial<LogRecord> = {}) =>
      sampleRecord({
        ...{ projectId: speedProject, createdAtMs: hourMs, model: 'fast', tokensOut, stream: true },
        ...{ latencyMs: 1100, ttftMs: 100, upstreamMs: 900, ...more },
      });
    await storeRecords(admin, [
      ...[row(10), row(30), row(20), row(0), row(5, { latencyMs: 50 })],
      // An answer in one piece: the time tells nothing about the model.
      row(900, { latencyMs: 149 }),
      ...[row(99_999, { cacheHit: true }), row(99_999, { status: 'aborted' })],
      row(9, { stream: false, model: 'plain' }),
      row(900, { stream: false, model: 'at once', upstreamMs: 2 }),
    ]);
    const answer = await admin.call('GET', `/stats/speeds?project_id=${speedProject}&from=${start}`);
    expect(answer.body.data).toEqual([
      { model: 'fast', tokens_per_second: 20, requests: 3 },
      { model: 'plain', tokens_per_second: 10, requests: 1 },
    ]);
  });

  test('JSON goes out compressed where the client takes it, beyond a kilobyte', async () => {
    const ask = (path: string, encoding: string) =>
      admin.request(`/v1${path}`, {
        headers: { 'accept-encoding': encoding, authorization: `Bearer ${ENV_TOKEN}` },
      });
    const plain = await ask('/openapi.json', 'gzip;q=0');
    const packed = await ask('/openapi.json', 'br, gzip');
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(plain.headers.get('vary')).toContain('Accept-Encoding');
    const bytes = await packed.bytes();
    const text = await plain.text();
    expect(Buffer.from(Bun.gunzipSync(bytes)).toString()).toBe(text);
    expect(bytes.length).toBeLessThan(text.length / 4);
    expect(
      (await ask(`/stats/spend?project_id=${crypto.randomUUID()}`, 'gzip')).headers.get('content-encoding'),
    ).toBeNull();
  });

  test.each(['1d', '1h', 'all'])('latency by customer and by error code, every %s', async (interval) => {
    const byCustomer = await buckets('latency', `interval=${interval}&group_by=customer`);
    expect(byCustomer.find((bucket: { group: string }) => bucket.group === 'ann')).toMatchObject({ requests: 1 });
    expect(byCustomer.every((bucket: { latency_ms: { p50: number } }) => bucket.latency_ms.p50 > 90)).toBe(true);
    expect(await buckets('latency', `interval=${interval}&group_by=error_code&top=1`)).toBeArray();
  });

  test('spend, cache and errors by hour', async () => {
    expect(await buckets('spend')).toMatchObject([
      { start, group: null, requests: 2, cost_usd: '0.000000003', tokens_in: 20 },
      { start: next, group: null, requests: 3, cost_usd: '0', saved_usd: '0.000000011' },
    ]);
    expect((await buckets('cache'))[1]).toMatchObject({ cache_hits: 1, semantic_hits: 1, misses: 1, hit_ratio: 2 / 3 });
    // Of a request that nobody let through, no cache was asked.
    const refused = crypto.randomUUID();
    await storeRecords(admin, [
      sampleRecord({ createdAtMs: hourMs, projectId: refused, cacheHit: true }),
      sampleRecord({ createdAtMs: hourMs, projectId: refused, status: 'rate_limited', httpStatus: 429 }),
      sampleRecord({ createdAtMs: hourMs, projectId: refused, status: 'aborted', httpStatus: 499 }),
    ]);
    const { body: asked } = await admin.call('GET', `/stats/cache?project_id=${refused}&interval=all`);
    expect(asked.buckets).toMatchObject([{ requests: 3, cache_hits: 1, misses: 1, hit_ratio: 0.5 }]);
    const { body: whole } = await admin.call('GET', `/stats/overview?project_id=${refused}`);
    expect(whole).toMatchObject({ requests: 3, cache_hits: 1, misses: 1 });
    expect((await buckets('errors'))[1]).toMatchObject({ errors: 1, success: 2, error_rate: 1 / 3 });
    const [latency] = await buckets('latency');
    expect(latency.latency_ms.p99).toBeGreaterThan(97);
    expect(latency.latency_ms.p99).toBeLessThan(103);
  });

  test.each([
    ['project', [projectId, projectId]],
    ['model', ['model-a', 'model-b', 'model-a']],
    ['provider', ['alpha', 'alpha']],
    ['target', ['alpha/model-a', 'alpha/model-b', 'alpha/model-a']],
    ['status', ['success', 'error', 'success']],
    ['customer', ['', '', 'ann']],
    ['label.team', ['', 'red', '']],
  ])('by %s', async (group, expected) => {
    const found = await buckets('spend', `interval=hour&group_by=${group}`);
    expect(found.map((bucket: { group: string }) => bucket.group)).toEqual(expected);
  });

  test('spend of a model with a customer; pairs that cost nothing are omitted', async () => {
    const table = async (query: string) => (await admin.call('GET', `/stats/spend-table?${range}&${query}`)).body;
    const cell = (row: string, requests: number, cost_usd: string) => ({ row, column: '', requests, cost_usd });
    const [a, b] = [cell('model-a', 3, '0.000000001'), cell('model-b', 1, '0.000000002')];
    expect(await table('')).toEqual({ cells: [a, b], partial: false, partial_from: null });
    const { cells } = await table('top=1');
    expect([cells.length, cells]).toEqual([2, expect.arrayContaining([{ ...a, row: '(other)' }, b])]);
    const byProject = await table('rows=provider&columns=project');
    expect(byProject.cells).toMatchObject([{ row: 'alpha', column: projectId, cost_usd: '0.000000003' }]);
    const from = new Date(hourMs - 30 * 86_400_000).toISOString();
    const month = await admin.call('GET', `/stats/spend-table?project_id=${projectId}&from=${from}`);
    const { partial, partial_from: partialFrom } = month.body;
    expect([partial, partialFrom, month.body.cells.length > 0]).toEqual([false, null, true]);
  });

  test('intervals: words, numbers of units, seconds; the default suits the range', async () => {
    for (const interval of ['1h', 'hour', '3600', '60m', '1hour']) {
      expect((await buckets('spend', `interval=${interval}`)).length).toBe(2);
    }
    const twoHours = `to=${new Date(hourMs + 2 * 3_600_000).toISOString()}`;
    expect((await buckets('spend', twoHours)).length).toBe(5);
    const nineDays = `to=${new Date(hourMs + 9 * 86_400_000).toISOString()}`;
    expect((await buckets('spend', nineDays)).length).toBe(1);
    const twoDays = `to=${new Date(hourMs + 2 * 86_400_000).toISOString()}`;
    const day = `${start.slice(0, 10)}T00:00:00.000Z`;
    expect((await buckets('spend', twoDays))[0].start).toBe(start);
    expect((await buckets('spend', `${twoDays}&group_by=customer`))[0].start).toBe(day);
    expect((await admin.call('GET', `/stats/spend?${range}&from=2020-01-01&interval=1m`)).status).toBe(400);
  });

  test.each([
    ['spend?interval=1s&from=2026-01-01', 'interval'],
    ['spend?interval=often', 'interval'],
    ['spend?interval=0', 'interval'],
    ['errors?group_by=colour', 'group_by'],
    ['errors?group_by=label.', 'group_by'],
    ['overview?from=2026-02-01&to=2026-01-01', 'from'],
    ['overview?interval=1h', 'interval'],
    ['latency?project_id=7', 'project_id'],
    ['spend-table?rows=status', 'rows'],
    ['spend-table?top=51', 'top'],
    ['spend-table?interval=1h', 'interval'],
    ['spend?interval=90m&from=2026-01-01&to=2026-01-09', 'interval'],
  ])('%s is refused', async (path, param) => {
    const answer = await admin.call('GET', `/stats/${path}`);
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  });

  test('slow queries are refused with a hint', () => {
    const error = asAdminError(new QuestionTooLargeError('late'), admin.services.log);
    expect([error.kind, error.param]).toEqual(['invalid_request', 'from']);
    expect(error.message).toMatch(/shorter range.*longer interval.*fewer groups/);
  });

  test('a row shows in the next answer, which says how old it is', async () => {
    const own = crypto.randomUUID();
    for (let rows = 0; rows < 3; rows++) {
      const answer = await admin.call('GET', `/stats/overview?project_id=${own}`);
      expect([answer.body.requests, answer.headers.get('age')]).toEqual([rows, '0']);
      await storeRecords(admin, [sampleRecord({ projectId: own })]);
    }
  });

  test('reconcile: a request that is settled meanwhile is a hold or an entry, never nowhere', async () => {
    const { hotStore } = admin.services;
    const ids = { requestId: Bun.randomUUIDv7(), projectId: crypto.randomUUID(), keyId: crypto.randomUUID() };
    const request = requestOf({ ...ids, requested: planOf({ ...ids, holdNanoUsd: 500 }) });
    const { nowMs } = await hotStore.admit(request);
    const record = sampleRecord({
      id: ids.requestId,
      projectId: ids.projectId,
      apiKeyId: ids.keyId,
      createdAtMs: nowMs,
    });
    const counters = hotStore.counters.bind(hotStore);
    let calls = 0;
    const spy = spyOn(hotStore, 'counters').mockImplementation(async () => {
      const found = await counters();
      calls++;
      if (calls === 2)
        hotStore.settle(settlementOf(request, nowMs, { costNanoUsd: 0, record: JSON.stringify(record) }));
      return found;
    });
    const { body } = await admin.call('GET', `/reconcile?project_id=${ids.projectId}`);
    spy.mockRestore();
    expect(body.queue_depth + body.open_holds).toBe(1);
    const [entry] = await hotStore.read(10, 0);
    await storeRecords(admin, [record]);
    await hotStore.acknowledge(entry === undefined ? [] : [entry.entryId]);
  });

  test('reconcile: not ok while something is queued or differs, ok when both sides agree', async () => {
    const { hotStore } = admin.services;
    const project = crypto.randomUUID();
    const path = `/reconcile?project_id=${project}`;
    const ids = { requestId: Bun.randomUUIDv7(), projectId: project, keyId: crypto.randomUUID() };
    const request = requestOf({ ...ids, requested: planOf({ ...ids, holdNanoUsd: 500 }) });
    const decision = await hotStore.admit(request);
    expect(decision.type).toBe('admitted');
    expect((await admin.call('GET', path)).body).toMatchObject({ open_holds: 1 });
    const record = sampleRecord({
      id: ids.requestId,
      projectId: project,
      apiKeyId: ids.keyId,
      createdAtMs: decision.nowMs,
      costNanoUsd: 77,
    });
    hotStore.settle(settlementOf(request, decision.nowMs, { costNanoUsd: 77, record: JSON.stringify(record) }));
    const month = new Date(decision.nowMs).toISOString().slice(0, 7);
    const line = { project_id: project, month, counter_usd: '0.000000077' };
    expect((await admin.call('GET', path)).body).toEqual({
      ok: false,
      queue_depth: 1,
      open_holds: 0,
      projects: [{ ...line, logs_usd: '0', diff_usd: '0.000000077' }],
    });
    const [entry] = await hotStore.read(10, 0);
    await storeRecords(admin, [record]);
    await hotStore.acknowledge(entry === undefined ? [] : [entry.entryId]);
    const even = {
      ok: true,
      queue_depth: 0,
      open_holds: 0,
      projects: [{ ...line, logs_usd: '0.000000077', diff_usd: '0' }],
    };
    expect((await admin.call('GET', path)).body).toEqual(even);
    expect((await admin.call('GET', `/reconcile?project_id=${project.toUpperCase()}`)).body).toEqual(even);
    await storeRecords(admin, [{ ...record, id: Bun.randomUUIDv7(), costNanoUsd: 3 }]);
    expect((await admin.call('GET', path)).body).toMatchObject({
      ok: false,
      projects: [{ counter_usd: '0.000000077', logs_usd: '0.00000008', diff_usd: '-0.000000003' }],
    });
    expect((await admin.call('GET', '/reconcile?project_id=x')).status).toBe(400);
  });
});
