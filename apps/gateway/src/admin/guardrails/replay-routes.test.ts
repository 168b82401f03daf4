import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeLogBodies } from '@llm0/drizzle/queries/logs/log-bodies';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

const MAIL = { name: 'mail', on: 'both', check: { type: 'pii', kinds: ['email'] }, action: 'block' };
const WORDS = { name: 'words', on: 'input', check: { type: 'words', words: ['darn'] }, action: 'flag' };
const JUDGE = {
  name: 'judge',
  on: 'input',
  check: { type: 'webhook', url: 'https://hooks.example/x' },
  action: 'block',
};

describe.each(ON_ONE_DATABASE)('guardrails and what is over, on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  async function projectWithBodies(...bodies: (readonly [question: string, answer: string])[]) {
    const { id } = await admin.createProject();
    const nowMs = Date.now();
    const kept = bodies.map(([content, answer], index) => ({
      requestId: crypto.randomUUID(),
      projectId: id,
      createdAtMs: nowMs - 1000 * (index + 1),
      request: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
      upstreamRequest: null,
      response: JSON.stringify({ choices: [{ message: { role: 'assistant', content: answer } }] }),
    }));
    if (kept.length > 0) await writeLogBodies(admin.database.db, kept);
    const replay = (body: object) => admin.call('POST', `/projects/${id}/guardrails/replay`, { body });
    return { id, ids: kept.map(({ requestId }) => requestId), replay };
  }

  test('says which stored requests rules would have stopped, and touches none', async () => {
    const { ids, replay, id } = await projectWithBodies(
      ['hello', 'hi'],
      ['darn, write to ann@example.com', 'no'],
      ['who?', 'bob@example.com and eve@example.com'],
      ['darn it', 'yes'],
    );
    const { status, body } = await replay({ rules: [MAIL, WORDS] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ requests: 4, blocked: 2, is_complete: true });
    expect(body.rules).toEqual([
      { name: 'mail', action: 'block', requests: 2, matches: 3, failures: 0, is_skipped: false },
      { name: 'words', action: 'flag', requests: 2, matches: 2, failures: 0, is_skipped: false },
    ]);
    expect(
      body.hits.map((hit: { request_id: string; blocked_by: string }) => [hit.request_id, hit.blocked_by]),
    ).toEqual([
      [ids[1], 'mail'],
      [ids[2], 'mail'],
      [ids[3], null],
    ]);
    expect(JSON.stringify(body)).not.toContain('example.com');
    const own = { mode: 'shadow', rules: [MAIL] };
    await admin.call('PUT', `/projects/${id}/guardrails`, { body: own });
    expect((await replay({})).body.rules).toMatchObject([{ name: 'mail', requests: 2 }]);
    expect((await replay({ rules: [MAIL], limit: 2 })).body).toMatchObject({ requests: 2, is_complete: false });
  });

  test('bodies of other projects and other times are not read', async () => {
    await projectWithBodies(['ann@example.com', '']);
    const { replay } = await projectWithBodies();
    expect((await replay({ rules: [MAIL] })).body).toMatchObject({ requests: 0, is_complete: true, hits: [] });
    const late = await projectWithBodies(['ann@example.com', '']);
    const before = new Date(Date.now() - 86_400_000).toISOString();
    expect((await late.replay({ rules: [MAIL], to: before })).body).toMatchObject({ requests: 0 });
  });

  test('past requests trigger no calls', async () => {
    const { replay } = await projectWithBodies(['hello', 'hi']);
    const { status, body } = await replay({ rules: [{ ...JUDGE, check: { type: 'moderation', model: 'openai/x' } }] });
    // The fixture has no such check, and says so when a rule is saved.
    expect([status, body.error?.message ?? '']).toEqual([400, expect.stringContaining('no check "moderation"')]);
  });

  test.each([
    [{ limit: 0 }, 'limit'],
    [{ limit: 1001 }, 'limit'],
    [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'from'],
    [{ rules: [{ ...MAIL, check: { type: 'regex', pattern: '(' } }] }, 'rules.0.check'],
  ])('%j is refused', async (body, param) => {
    const { replay } = await projectWithBodies();
    const answer = await replay(body);
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  });

  test('finds are told over time, by what is asked for', async () => {
    const { id } = await admin.createProject();
    const mark = { on: 'input', part: 'user', check: 'pii', action: 'block', count: 2, ms: 0.5 } as const;
    const createdAtMs = Date.now() - 60_000;
    await insertLogRecords(admin.database.db, [
      sampleRecord({ projectId: id, createdAtMs, guardrails: [{ ...mark, rule: 'mail' }] }),
      sampleRecord({
        projectId: id,
        createdAtMs,
        guardrails: [
          { ...mark, rule: 'mail' },
          { ...mark, rule: 'words', shadow: true },
        ],
      }),
    ]);
    const stats = async (query: string) =>
      (await admin.call('GET', `/stats/guardrails?project_id=${id}&interval=all&${query}`)).body.buckets;
    expect(await stats('group_by=rule')).toMatchObject([
      { group: 'mail', requests: 2, matches: 4, ms: 1 },
      { group: 'words', requests: 1, matches: 2, ms: 0.5 },
    ]);
    expect(await stats('outcome=watched')).toMatchObject([{ group: null, requests: 1 }]);
    expect(await stats('rule=nothing')).toEqual([]);
    const logs = await admin.call('GET', `/logs?project_id=${id}&guardrail=words`);
    expect(logs.body.data).toHaveLength(1);
    expect((await admin.call('GET', `/logs?project_id=${id}&guardrail_not=words`)).body.data).toHaveLength(1);
  });
});
