import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { writeLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import { runs } from '@llm0/testing/lane';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import fc from 'fast-check';
import { type AdminUnderTest, openAdmin, storeRecords } from '../admin.fixture';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.parse('2026-04-05T10:00:00.000Z');

describe.each(ON_ONE_DATABASE)('tool calls on $name', (kind) => {
  let admin: AdminUnderTest;
  const [projectId, apiKeyId] = [crypto.randomUUID(), crypto.randomUUID()];
  const call = (index: number, given: Partial<ToolCallRecord> = {}) =>
    sampleCall({ projectId, apiKeyId, createdAtMs: START_MS + index * 1000, ...given });
  const calls: readonly ToolCallRecord[] = [
    call(0, { customerId: 'customer-1', durationMs: 10 }),
    call(1, { tool: 'search', isError: true, runId: 'run-2' }),
    call(2, { server: 'memory', tool: 'search', costNanoUsd: 0, apiKeyId: crypto.randomUUID() }),
    call(3, {
      ...{ tool: 'invented', status: 'error', isError: true, costNanoUsd: 0, bytesOut: 0, clientRequestId: 'mine' },
      ...{ errorCode: 'not_found', errorMessage: 'Unknown tool: "github__invented".' },
    }),
  ];
  beforeAll(async () => {
    admin = await openAdmin(kind);
    await storeRecords(admin, [...calls, sampleRecord({ projectId, createdAtMs: START_MS })]);
  }, 60_000);
  afterAll(() => admin.close());

  const list = async (query = '') =>
    (await admin.call('GET', `/tool-calls?project_id=${projectId}${query}`)).body as {
      data: { id: string }[];
      next_cursor: string | null;
    };
  const indexesOf = async (query: string) =>
    (await list(query)).data.map(({ id }) => calls.findIndex((one) => one.id === id));

  test('a row has every column of the table, money exact', async () => {
    const { body } = await admin.call('GET', `/tool-calls/${calls[3]?.id}`);
    expect(body).toEqual({
      id: calls[3]?.id,
      created_at: '2026-04-05T10:00:03.000Z',
      project_id: projectId,
      api_key_id: apiKeyId,
      customer_id: null,
      labels: null,
      request_id: calls[3]?.id,
      client_request_id: 'mine',
      run_id: 'run-1',
      server_id: calls[3]?.serverId,
      server: 'github',
      tool: 'invented',
      status: 'error',
      is_error: true,
      error_code: 'not_found',
      error_message: 'Unknown tool: "github__invented".',
      latency_ms: 12.5,
      bytes_in: 100,
      bytes_out: 0,
      cost_usd: '0',
      guardrails: null,
      trace_id: null,
    });
    expect((await list('&run_id=run-2')).data).toMatchObject([{ cost_usd: '0.001000001' }]);
    expect((await admin.call('GET', `/tool-calls/${crypto.randomUUID()}`)).status).toBe(404);
  });

  test.each([
    ['', [3, 2, 1, 0]],
    ['&server=github', [3, 1, 0]],
    ['&tool=search', [2, 1]],
    ['&server=github&tool=search', [1]],
    ['&status=error', [3]],
    ['&is_error=true', [3, 1]],
    ['&is_error=false', [2, 0]],
    ['&run_id=run-2', [1]],
    ['&customer_id=customer-1', [0]],
    [`&api_key_id=${apiKeyId}`, [3, 1, 0]],
    ['&from=2026-04-05T10:00:01Z&to=2026-04-05T10:00:03Z', [2, 1]],
    ['&from=2026-04-06', []],
  ])('filter %s finds %p', async (query, expected) => {
    expect(await indexesOf(query)).toEqual(expected);
  });

  test('request_id finds the call, pages go on where the one before ended', async () => {
    expect(await indexesOf(`&request_id=${calls[2]?.id}`)).toEqual([2]);
    const first = await list('&limit=3');
    expect(first.data.map(({ id }) => id)).toEqual([3, 2, 1].map((index) => calls[index]?.id ?? ''));
    const second = await list(`&limit=3&cursor=${first.next_cursor}`);
    expect(second).toEqual({ data: [expect.objectContaining({ id: calls[0]?.id ?? '' })], next_cursor: null });
  });

  test('calls of one millisecond are told apart by pages', async () => {
    const other = crypto.randomUUID();
    const same = Array.from({ length: 5 }, () => sampleCall({ projectId: other, createdAtMs: START_MS }));
    await storeRecords(admin, same);
    const found: string[] = [];
    for (let cursor = ''; ; ) {
      const path = `/tool-calls?project_id=${other}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const { data, next_cursor } = (await admin.call('GET', path)).body;
      found.push(...data.map(({ id }: { id: string }) => id));
      if (next_cursor === null) break;
      cursor = next_cursor;
    }
    expect(found).toEqual(
      same
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
  });

  test.each(['cursor=x', 'status=odd', 'is_error=1', 'limit=0', 'server=', 'nothing=1'])(
    '%s is refused',
    async (query) => {
      const answer = await admin.call('GET', `/tool-calls?${query}`);
      expect([answer.status, answer.body.error.param]).toEqual([400, query.split('=')[0]]);
    },
  );

  test('arguments and results are shown where they were kept', async () => {
    const [kept] = calls;
    if (kept === undefined) throw new Error('no call');
    const bodies = { requestId: kept.id, projectId, createdAtMs: START_MS, upstreamRequest: null };
    await writeLogBodies(admin.database.db, [{ ...bodies, request: '{"a":1}', response: '{"content":[]}' }]);
    const answer = await admin.call('GET', `/tool-calls/${kept.id}/bodies`);
    expect(answer.body).toEqual({
      request_id: kept.id,
      project_id: projectId,
      created_at: '2026-04-05T10:00:00.000Z',
      arguments: { a: 1 },
      result: { content: [] },
    });
  });

  const stats = async (query: string) => {
    const range = `from=2026-04-05T00:00:00Z&to=2026-04-06T00:00:00Z&project_id=${projectId}`;
    return (await admin.call('GET', `/stats/tools?${range}&${query}`)).body;
  };

  test('statistics by server, tool and key, the same from roll-ups and rows', async () => {
    const byServer = await stats('interval=all&group_by=server');
    expect(byServer).toMatchObject({
      groups: 2,
      buckets: [
        {
          group: 'github',
          calls: 3,
          errors: 2,
          error_rate: 2 / 3,
          bytes_in: 300,
          bytes_out: 4000,
          cost_usd: '0.002000002',
        },
        { group: 'memory', calls: 1, errors: 0, cost_usd: '0' },
      ],
    });
    const p50 = byServer.buckets[0].latency_ms.p50;
    expect(Math.abs(p50 - 12.5) / 12.5).toBeLessThan(0.025);
    const byTool = await stats('interval=1h&group_by=tool');
    expect(byTool.buckets.map((one: { group: string; start: string }) => `${one.start} ${one.group}`)).toEqual(
      ['github__', 'github__create_issue', 'github__search', 'memory__search'].map(
        (name) => `2026-04-05T10:00:00.000Z ${name}`,
      ),
    );
    expect((await stats('interval=1m&group_by=tool')).buckets).toEqual(byTool.buckets);
    expect((await stats(`interval=all&group_by=key&server=github`)).buckets).toMatchObject([
      { group: apiKeyId, calls: 3 },
    ]);
    expect((await stats('interval=all&tool=search&status=success')).buckets).toMatchObject([{ group: null, calls: 2 }]);
    expect(await stats('interval=all&group_by=tool&top=1')).toMatchObject({
      groups: 4,
      buckets: [
        { group: '(other)', calls: 3 },
        { group: 'github__create_issue', calls: 1 },
      ],
    });
    expect((await admin.call('GET', '/stats/tools?group_by=model')).status).toBe(400);
  });

  test('any range adds up to the calls in it', async () => {
    const own = crypto.randomUUID();
    const nowMs = Date.now();
    const spread = Array.from({ length: 60 }, (_, index) =>
      sampleCall({
        ...{ projectId: own, tool: `tool-${index % 3}`, costNanoUsd: 1 + index, isError: index % 4 === 0 },
        createdAtMs: nowMs - 4 * DAY_MS + Math.floor((index * 4 * DAY_MS) / 60),
      }),
    );
    await storeRecords(admin, spread);
    const moment = fc.integer({ min: nowMs - 5 * DAY_MS, max: nowMs + HOUR_MS });
    await fc.assert(
      fc.asyncProperty(moment, moment, fc.constantFrom('all', '1h', '1d'), async (a, b, interval) => {
        const [fromMs, toMs] = [Math.min(a, b), Math.max(a, b)];
        const iso = (ms: number) => new Date(ms).toISOString();
        const path = `/stats/tools?from=${iso(fromMs)}&to=${iso(toMs)}&project_id=${own}&interval=${interval}&group_by=tool`;
        const { buckets } = (await admin.call('GET', path)).body;
        const due = spread.filter(({ createdAtMs }) => createdAtMs >= fromMs && createdAtMs < toMs);
        const sum = (of: (bucket: Record<string, string>) => number) =>
          buckets.reduce((total: number, bucket: Record<string, string>) => total + of(bucket), 0);
        expect(sum((bucket) => Number(bucket.calls))).toBe(due.length);
        expect(sum((bucket) => Number(bucket.errors))).toBe(due.filter((one) => one.isError).length);
        const nano = due.reduce((total, one) => total + one.costNanoUsd, 0);
        expect(Math.round(sum((bucket) => Number(bucket.cost_usd) * 1e9))).toBe(nano);
      }),
      { numRuns: runs(60) },
    );
  }, 60_000);

  test("what calls cost stands in spend and on the key; a request's counts stay its own", async () => {
    const { id: project } = await admin.createProject();
    const key = (await admin.call('POST', `/projects/${project}/keys`, { body: { name: 'ci', budget_usd: 1 } })).body;
    const createdAtMs = Date.now() - 1000;
    const paid = sampleCall({
      projectId: project,
      apiKeyId: key.id,
      costNanoUsd: 250_000_000,
      createdAtMs,
      labels: { team: 'red' },
    });
    await storeRecords(admin, [paid]);
    const shown = (await admin.call('GET', `/projects/${project}/keys`)).body.data;
    expect(shown).toMatchObject([{ requests: 0, spent_usd: '0.25', last_used_at: expect.any(String) }]);
    const overview = (await admin.call('GET', `/stats/overview?project_id=${project}`)).body;
    expect(overview).toMatchObject({ requests: 0, cost_usd: '0.25' });
    const spend = (await admin.call('GET', `/stats/spend?project_id=${project}&interval=all&group_by=provider`)).body;
    expect(spend.buckets).toMatchObject([{ group: 'mcp:github', requests: 0, cost_usd: '0.25' }]);
    const errors = (await admin.call('GET', `/stats/errors?project_id=${project}&interval=all`)).body;
    expect(errors.buckets).toEqual([]);
    const budgets = (await admin.call('GET', `/budgets?project_id=${project}`)).body.data;
    expect(budgets).toMatchObject([{ scope: 'key', used_usd: '0.25' }]);
    const ledger = (await admin.call('GET', `/reconcile?project_id=${project}`)).body;
    expect(ledger.projects).toMatchObject([{ counter_usd: '0', logs_usd: '0.25', diff_usd: '-0.25' }]);
    const month = new Date(createdAtMs).toISOString().slice(0, 7);
    for (const by of ['project', 'key', 'model', 'label.team']) {
      const statement = (await admin.call('GET', `/finance/statement?month=${month}&by=${by}&project_id=${project}`))
        .body;
      expect([by, statement.total?.cost_usd ?? statement]).toEqual([by, '0.25']);
    }
    const suggested = (await admin.call('GET', `/logs/suggestions?field=provider&project_id=${project}`)).body;
    expect(suggested.data).toEqual([]);
  });
});
