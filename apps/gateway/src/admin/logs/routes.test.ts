import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
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
    record(0, { costNanoUsd: 1, customerId: '=cmd()', labels: { team: 'a', env: 'prod' } }),
    record(1, {
      costNanoUsd: 100_000_000,
      cacheHit: true,
      costDetail: { input: 60_000_000, output: 40_000_000, price_source: 'seed' },
    }),
    record(2, { cacheHit: true, semanticCacheHit: true, similarityScore: 0.5, labels: { team: 'b' } }),
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

  /** Texts and labels are searched 7 days back from `to`. */
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
      'refused_count',
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
    const { text } = await admin.call('GET', `/logs?request_id=${rows[1]?.id}`);
    expect(text).toContain('"cost_usd":0.1,');
    expect(text).toContain('"cost_detail":{"input":0.06,"output":0.04,"price_source":"seed"}');
  });

  test.each([
    ['', [4, 3, 2, 1, 0]],
    ['api_key_id=KEY', [4, 3, 2, 1, 0]],
    ['model=alias', [4]],
    ['model=model-b', [4]],
    ['provider=beta', [4]],
    ['status=rate_limited', [3]],
    ['cache=exact', [1]],
    ['cache=semantic', [2]],
    ['cache=miss', [4, 3, 0]],
    ['customer_id=%3Dcmd()', [0]],
    ['label.team=a', [0]],
    ['label.team=a&label.env=prod', [0]],
    ['label.team=a&label.env=dev', []],
    ['label.Team=b', [2]],
    ['from=2026-04-05T10:00:03Z', [4, 3]],
    ['from=2026-04-05T12:00:03%2B02:00', [4, 3]],
    ['from=2026-04-05T12:00:03+02:00', [4, 3]],
    ['to=2026-04-05T10:00:01Z', [0]],
    ['from=2026-04-05&to=2026-04-06', [4, 3, 2, 1, 0]],
    ['min_cost=0.1', [1]],
    ['min_cost=0.000012345', [4, 3, 2, 1]],
    ['min_latency=5000.5', [4]],
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
    ['min_cost=-1', 'min_cost'],
    ['min_latency=x', 'min_latency'],
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
