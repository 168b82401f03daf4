import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { writeLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin, storeRecords } from '../admin.fixture';

const START_MS = Date.parse('2026-04-05T10:00:00.000Z');

describe.each(TEST_DATABASES)('logs on $name', (kind) => {
  let admin: AdminUnderTest;
  const projectId = crypto.randomUUID();
  const apiKeyId = crypto.randomUUID();
  const record = (index: number, given: Partial<LogRecord> = {}) =>
    sampleRecord({ projectId, apiKeyId, createdAtMs: START_MS + index * 1000, ...given });
  const rows: readonly LogRecord[] = [
    record(0, {
      ...{ costNanoUsd: 1, customerId: '=cmd()', labels: { team: 'a', env: 'prod' } },
      ...{ modality: 'image', units: { images: 2, sessionSeconds: 0.5 } },
    }),
    record(1, {
      costNanoUsd: 100_000_000,
      cacheHit: true,
      costDetail: { input: 60_000_000, output: 40_000_000, price_source: 'seed' },
    }),
    record(2, {
      ...{ cacheHit: true, semanticCacheHit: true, similarityScore: 0.5, labels: { team: 'b' } },
      ...{ stream: false, tokensIn: 900, ttftMs: 3000 },
    }),
    record(3, {
      status: 'rate_limited',
      httpStatus: 429,
      errorCode: 'rate_limit_exceeded',
      errorMessage: 'too, "many"\nat once',
    }),
    record(4, {
      model: 'model-b',
      requestedModel: 'alias',
      provider: 'alpha',
      finalProvider: 'beta',
      failoverCount: 1,
      attempts: [
        {
          provider: 'alpha',
          model: 'model-a',
          outcome: 'timeout',
          status: 504,
          startMs: 1.5,
          latencyMs: 30,
          costNanoUsd: 7,
        },
        { provider: 'beta', model: 'model-b', outcome: 'ok', startMs: 40, latencyMs: 19.9999 },
      ],
      latencyMs: 5000.50023,
      clientRequestId: 'client-77',
    }),
  ];
  beforeAll(async () => {
    admin = await openAdmin(kind);
    await storeRecords(admin, rows);
  }, 60_000);
  afterAll(() => admin.close());

  /** Texts and labels have no index: a bound spares them the months since. */
  const list = async (query = '') => {
    const bound = /^(q|label)/.test(query) ? 'to=2026-04-06&' : '';
    return (await admin.call('GET', `/logs?project_id=${projectId}&${bound}${query}`)).body;
  };
  const indexesOf = async (query: string) =>
    (await list(query)).data.map((log: { id: string }) => rows.findIndex((row) => row.id === log.id));

  test('a row has every column of the table, money exact', async () => {
    const [log] = (await list('q=client-77')).data;
    expect(Object.keys(log)).toEqual([
      'id',
      'created_at',
      'project_id',
      'api_key_id',
      'request_id',
      'client_request_id',
      'dialect',
      'model',
      'requested_model',
      'provider',
      'final_provider',
      'tokens_in',
      'tokens_out',
      'tokens_total',
      'tokens_cache_read',
      'tokens_cache_write',
      'tokens_reasoning',
      'cost_usd',
      'saved_usd',
      'cost_detail',
      'cost_estimated',
      'latency_ms',
      'overhead_ms',
      'upstream_ms',
      'ttft_ms',
      'stream',
      'cache_hit',
      'semantic_cache_hit',
      'similarity_score',
      'failover_count',
      'failover_occurred',
      'attempts',
      'status',
      'http_status',
      'error_code',
      'error_message',
      'customer_id',
      'labels',
      'matched_by',
      'dropped_params',
      'run_id',
      'guardrails',
      'trace_id',
      'modality',
      'units',
      'routing',
      'refused_count',
      'outcome',
    ]);
    expect(log).toMatchObject({
      created_at: '2026-04-05T10:00:04.000Z',
      request_id: rows[4]?.id,
      tokens_total: 30,
      cost_usd: '0.000012345',
      latency_ms: 5000.5,
      failover_occurred: true,
      attempts: [
        {
          provider: 'alpha',
          model: 'model-a',
          outcome: 'timeout',
          status: 504,
          start_ms: 1.5,
          latency_ms: 30,
          cost_usd: '0.000000007',
        },
        {
          provider: 'beta',
          model: 'model-b',
          outcome: 'ok',
          status: null,
          start_ms: 40,
          latency_ms: 20,
          cost_usd: null,
        },
      ],
    });
    expect([log.modality, log.units]).toEqual(['text', null]);
    const { body } = await admin.call('GET', `/logs?request_id=${rows[0]?.id}`);
    expect(body.data[0]).toMatchObject({ modality: 'image', units: { images: 2, session_seconds: 0.5 } });
    const { text } = await admin.call('GET', `/logs?request_id=${rows[1]?.id}`);
    expect(text).toContain('"cost_usd":0.1,');
    expect(text).toContain('"cost_detail":{"input":0.06,"output":0.04,"price_source":"seed"}');
  });

  test.each([
    ['', [4, 3, 2, 1, 0]],
    ['api_key_id=KEY', [4, 3, 2, 1, 0]],
    ['model=alias', [4]],
    ['model=model-b', [4]],
    ['answering_model=alias', []],
    ['answering_model=model-b', [4]],
    ['sent_to=alpha&status=success&cache=miss', [4, 0]],
    ['sent_to=beta', [4]],
    ['switch=alpha/model-a>beta/model-b', [4]],
    ['switch=alpha/model-a>beta/model-b>timeout>504>answered', [4]],
    ['switch=alpha/model-a>beta/model-b>timeout>>answered', []],
    ['switch=alpha/model-a>beta/model-b>timeout>504>failed', []],
    ['switch=beta/model-b>alpha/model-a', []],
    ['provider=beta', [4]],
    ['status=rate_limited', [3]],
    ['cache=exact', [1]],
    ['cache=semantic', [2]],
    ['cache=miss', [4, 3, 0]],
    ['customer_id=%3Dcmd()', [0]],
    ['modality=image', [0]],
    ['modality=text', [4, 3, 2, 1]],
    ['modality_not=image&modality_not=audio', [4, 3, 2, 1]],
    ['label.team=a', [0]],
    ['label.team=a&label.env=prod', [0]],
    ['label.team=a&label.env=dev', []],
    ['label.Team=b', [2]],
    ['from=2026-04-05T10:00:03Z', [4, 3]],
    ['from=2026-04-05T12:00:03%2B02:00', [4, 3]],
    ['from=2026-04-05T12:00:03+02:00', [4, 3]],
    ['to=2026-04-05T10:00:01Z', [0]],
    ['from=2026-04-05&to=2026-04-06', [4, 3, 2, 1, 0]],
    ['provider=beta&provider=gamma', [4]],
    ['status=rate_limited&status=error', [3]],
    ['status_not=success', [3]],
    ['model_not=alias', [3, 2, 1, 0]],
    ['cache_not=miss', [2, 1]],
    ['cache=exact&cache=semantic&sort=created_at', [1, 2]],
    ['customer_id_not=%3Dcmd()', [4, 3, 2, 1]],
    ['error_code=rate_limit_exceeded', [3]],
    ['http_status_not=200', [3]],
    ['api_key_id_not=KEY', []],
    ['label.team=a&label.team=b', [2, 0]],
    ['label_not.team=a', [4, 3, 2, 1]],
    ['label_not.team=a&label_not.env=x', [4, 3, 2, 1]],
    ['sort=created_at', [0, 1, 2, 3, 4]],
    ['sort=-latency_ms&limit=1', [4]],
    ['sort=cost_usd&limit=1', [0]],
    ['sort=-model&limit=1', [4]],
    ['min_cost=0.1', [1]],
    ['min_cost=0.000012345', [4, 3, 2, 1]],
    ['min_latency=5000.5', [4]],
    ['max_latency=123.456', [3, 2, 1, 0]],
    ['min_latency=3000&latency_of=ttft', [2]],
    ['max_latency=45.75&latency_of=ttft', [4, 3, 1, 0]],
    ['stream=false', [2]],
    ['stream=true&min_latency=200', [4]],
    ['min_tokens=31&max_tokens=920', [2]],
    ['max_tokens=919', [4, 3, 1, 0]],
    ['q=TOO%2C', [3]],
  ])('filter %p', async (query, expected) => {
    expect(await indexesOf(query.replace('KEY', apiKeyId))).toEqual(expected);
  });

  test.each([
    ['status=bad', 'status'],
    ['cache=yes', 'cache'],
    ['project=x', 'project'],
    ['api_key_id=x', 'api_key_id'],
    ['from=yesterday', 'from'],
    ['status=error&status=bad', 'status'],
    ['status_not=bad', 'status_not'],
    ['http_status=x', 'http_status'],
    ['q=a&q=b', 'q'],
    ['sort=secret', 'sort'],
    ['count=1', 'count'],
    ['min_cost=-1', 'min_cost'],
    ['min_latency=x', 'min_latency'],
    ['latency_of=all', 'latency_of'],
    ['stream=yes', 'stream'],
    ['max_tokens=1.5', 'max_tokens'],
    ['format=xml', 'format'],
    ['limit=0', 'limit'],
    ['cursor=x', 'cursor'],
  ])('?%s is refused, not ignored', async (query, param) => {
    const answer = await admin.call('GET', `/logs?${query}`);
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
    const exported = await admin.call('GET', `/logs?${query}`, { headers: { accept: 'text/csv' } });
    expect(exported.status).toBe(400);
  });

  test('the list is walked by cursor', async () => {
    const walked: number[] = [];
    let cursor: string | null = null;
    do {
      const page = await list(`limit=2${cursor === null ? '' : `&cursor=${cursor}`}`);
      walked.push(...page.data.map((log: { id: string }) => rows.findIndex((row) => row.id === log.id)));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(walked).toEqual([4, 3, 2, 1, 0]);
  });

  test('CSV: a header, one line a row, quoted, and no cell a spreadsheet would run', async () => {
    const answer = await admin.call('GET', `/logs?project_id=${projectId}`, { headers: { accept: 'text/csv' } });
    expect(answer.headers.get('content-type')).toStartWith('text/csv');
    const lines = answer.text.split('\r\n');
    expect(lines.length).toBe(7);
    expect(lines[0]).toStartWith('id,created_at,project_id,');
    expect(lines[1]).toStartWith(`${rows[4]?.id},2026-04-05T10:00:04.000Z,${projectId},`);
    expect(answer.text).toContain(',"too, ""many""\nat once",');
    expect(answer.text).toContain(",'=cmd(),");
    expect(answer.text).toContain(',0.000000001,0,');
    const again = await admin.call('GET', `/logs?project_id=${projectId}&format=csv&limit=2`);
    expect(again.text.split('\r\n').length).toBe(4);
  });

  test('one request by its id, wherever it is in the list', async () => {
    expect((await admin.call('GET', `/logs/${rows[0]?.id}`)).body).toMatchObject({ request_id: rows[0]?.id });
    expect((await admin.call('GET', `/logs/${crypto.randomUUID()}`)).status).toBe(404);
    expect((await admin.call('GET', '/logs/x')).body.error.param).toBe('request_id');
  });

  test('a count, if asked for; and a histogram by status of the same rows', async () => {
    expect(await list('limit=1')).not.toHaveProperty('count');
    const exact = (count: number) => ({ rows: count, is_exact: true, from: null });
    expect((await list('limit=1&count=true')).count).toEqual(exact(5));
    const asked = `project_id=${projectId}&from=2026-04-05T10:00:00Z&to=2026-04-05T10:01:00Z`;
    const tally = await admin.call('GET', `/logs/histogram?${asked}&interval=2&model_not=alias`);
    expect(tally.body.count).toEqual(exact(4));
    expect(tally.body.buckets).toEqual([
      { start: '2026-04-05T10:00:00.000Z', status: 'success', outcome: 'success', requests: 2 },
      { start: '2026-04-05T10:00:02.000Z', status: 'rate_limited', outcome: 'rate_limited', requests: 1 },
      { start: '2026-04-05T10:00:02.000Z', status: 'success', outcome: 'success', requests: 1 },
    ]);
    expect((await admin.call('GET', `/logs/histogram?${asked}`)).body.interval_seconds).toBe(1);
    const tooMany = await admin.call('GET', `/logs/histogram?project_id=${projectId}&from=2026-01-01&interval=1`);
    expect([tooMany.status, tooMany.body.error.param]).toEqual([400, 'interval']);
  });

  test('an export obeys filters of several values and the sort, over many reads', async () => {
    const answer = await admin.call(
      'GET',
      `/logs?project_id=${projectId}&format=ndjson&sort=-latency_ms&model=alias&model=model-a&status_not=rate_limited`,
    );
    const lines = answer.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ id }) => rows.findIndex((row) => row.id === id))).toEqual([4, 2, 1, 0]);
  });

  test('suggestions: what the log has had, under the names it is known by', async () => {
    const project = await admin.createProject({ name: 'Suggested' });
    const key = (await admin.call('POST', `/projects/${project.id}/keys`, { body: { name: 'Bot key' } })).body;
    const recent = (index: number, given: Partial<LogRecord>) =>
      record(index, { projectId: project.id, apiKeyId: key.id, createdAtMs: Date.now() - index, ...given });
    await storeRecords(admin, [
      recent(1, { model: 'rare-model', customerId: 'Acme', labels: { team: 'ops' } }),
      recent(2, { model: 'often-model', provider: 'zeta', finalProvider: 'zeta', labels: { team: 'dev', env: 'x' } }),
      recent(3, { model: 'often-model', status: 'error', httpStatus: 502, errorCode: 'upstream_error' }),
    ]);
    const ask = async (query: string) =>
      (await admin.call('GET', `/logs/suggestions?project_id=${project.id}&${query}`)).body.data;
    const values = async (query: string) => (await ask(query)).map(({ value }: { value: string }) => value);
    expect(await values('field=model')).toEqual(['often-model', 'rare-model']);
    expect(await values('field=model&q=RARE')).toEqual(['rare-model']);
    expect(await values('field=provider&q=z')).toEqual(['zeta']);
    expect(await values('field=customer_id&q=acm')).toEqual(['Acme']);
    expect(await values('field=error_code')).toEqual(['upstream_error']);
    expect(await values('field=http_status')).toEqual(['200', '502']);
    expect(await values('field=label')).toEqual(['team', 'env']);
    expect(await values('field=label.team&q=o')).toEqual(['ops']);
    expect(await ask('field=api_key_id&q=bot')).toEqual([{ value: key.id, label: 'Bot key · Suggested' }]);
    expect(await ask('field=project_id&q=suggest')).toEqual([{ value: project.id, label: 'Suggested' }]);
    const wrong = await admin.call('GET', '/logs/suggestions?field=secret');
    expect([wrong.status, wrong.body.error.param]).toEqual([400, 'field']);
  });

  test('texts are found in kept prompts and answers, by those who may read them', async () => {
    const kept = (index: number, request: unknown, response: unknown) => ({
      requestId: rows[index]?.id ?? '',
      ...{ projectId, createdAtMs: START_MS + index * 1000, upstreamRequest: null },
      ...{ request: JSON.stringify(request), response: JSON.stringify(response) },
    });
    const says = (content: string) => ({ messages: [{ role: 'user', content }] });
    await writeLogBodies(admin.database.db, [
      kept(0, says('Where is the "Zebra"?\n100% sure'), { choices: [{ message: { content: 'At home' } }] }),
      kept(3, says('Hello'), { choices: [{ message: { content: 'The zebra \\o/ says äöü' } }] }),
    ]);
    const found = (q: string) => indexesOf(`q=${encodeURIComponent(q)}`);
    expect(await found('ZEBRA')).toEqual([3, 0]);
    expect(await found('"zebra"?\n100%')).toEqual([0]);
    expect(await found('\\o/ Says äöü')).toEqual([3]);
    expect(await found('100_')).toEqual([]);
    expect(await found('.*')).toEqual([]);
    // The names of fields are no text.
    expect(await found('messages')).toEqual([]);
    expect(await indexesOf('q=zebra&sort=-latency_ms')).toEqual([3, 0]);
    expect(await indexesOf(`q=zebra&request_id=${rows[0]?.id}`)).toEqual([0]);
    expect((await list('q=zebra&count=true&limit=1')).count.rows).toBe(2);
    const viewer = (await admin.call('POST', '/tokens', { body: { name: 'looks', role: 'viewer' } })).body.token;
    const asViewer = await admin.call('GET', `/logs?project_id=${projectId}&q=zebra`, { token: viewer });
    expect([asViewer.status, asViewer.body.data]).toEqual([200, []]);
    const bodiesOf = async (index: number, query = '') =>
      (await admin.call('GET', `/logs/${rows[index]?.id}/bodies${query}`)).status;
    expect([await bodiesOf(0, '?missing=empty'), await bodiesOf(1, '?missing=empty'), await bodiesOf(1)]).toEqual([
      ...[200, 204, 404],
    ]);
  });

  test('NDJSON: every matching row, over many reads', async () => {
    const project = crypto.randomUUID();
    const many = Array.from({ length: 1203 }, (_, index) => record(index, { projectId: project }));
    await storeRecords(admin, many);
    const answer = await admin.call('GET', `/logs?project_id=${project}&format=ndjson`);
    const ids = answer.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual(many.map((row) => row.id).reverse());
    expect((await admin.call('GET', `/logs?project_id=${project}`)).body.data.length).toBe(50);
  });
});
