import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addSystemLog } from '@llm0/drizzle/queries/logs/system-logs';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

describe.each(ON_ONE_DATABASE)('cache and history on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  const cacheKey = (name: string) => Bun.CryptoHasher.hash('sha256', name, 'hex');
  const write = (projectId: string, name: string, model: string) =>
    admin.services.hotStore.cacheWrite(projectId, {
      key: cacheKey(name),
      value: '{}',
      ttlMs: 60_000,
      provider: 'alpha',
      model,
    });
  const writeWarm = (projectId: string, name: string, model: string) => admin.database.client`
    insert into exact_cache (project_id, cache_key, provider, model, prompt_tokens, completion_tokens, cached_response, expires_at)
    values (${projectId}, ${cacheKey(name)}, 'alpha', ${model}, 1, 1, '{}', now() + interval '1 hour')`;
  const purge = async (body: object) => (await admin.call('POST', '/cache/purge', { body })).body;

  test('matching entries go from both tiers and count once', async () => {
    const projectId = crypto.randomUUID();
    for (const [name, model] of [
      ['a', 'm1'],
      ['b', 'm1'],
      ['c', 'm2'],
    ] as const) {
      write(projectId, name, model);
      await writeWarm(projectId, name, model);
    }
    expect(await purge({ project_id: projectId, model: 'm3' })).toEqual({ exact: 0, semantic: 0 });
    expect(await purge({ project_id: projectId, cache_key: cacheKey('a') })).toEqual({ exact: 1, semantic: 0 });
    expect(await purge({ project_id: projectId, provider: 'alpha', model: 'm1' })).toEqual({ exact: 1, semantic: 0 });
    expect(await purge({ project_id: projectId, older_than_seconds: 3600 })).toEqual({ exact: 0, semantic: 0 });
    expect(await purge({ project_id: projectId, older_than_seconds: 0 })).toEqual({ exact: 1, semantic: 0 });
    const audit = await admin.call('GET', `/audit?resource=cache&resource_id=${projectId}&limit=1`);
    expect(audit.body.data[0]).toMatchObject({ action: 'purge', before: { older_than_seconds: 0 } });
  });

  test('everything at once must be asked for by a condition', async () => {
    const empty = await admin.call('POST', '/cache/purge', { body: {} });
    expect([empty.status, empty.body.error.code]).toEqual([400, 'invalid_request']);
    const unknown = await admin.call('POST', '/cache/purge', { body: { project: 'x' } });
    expect(unknown.body.error.param).toBe('project');
    const negative = await admin.call('POST', '/cache/purge', { body: { older_than_seconds: -1 } });
    expect(negative.status).toBe(400);
  });

  test('stats count both tiers', async () => {
    const projectId = crypto.randomUUID();
    const before = (await admin.call('GET', '/cache/stats')).body;
    write(projectId, 'one', 'm');
    await writeWarm(projectId, 'one', 'm');
    const after = await admin.call('GET', '/cache/stats');
    expect(after.body).toMatchObject({ backend: 'embedded', ttl_seconds: 3600, max_bytes: 1000 });
    expect(after.body.entries).toBe(before.entries + 1);
    expect(after.body.warm_entries).toBe(before.warm_entries + 1);
    expect(after.body.bytes).toBeGreaterThan(before.bytes);
  });

  test('runs of jobs are shown, by type and outcome', async () => {
    const eventType = `job-${crypto.randomUUID()}`;
    // One transaction: all in the same millisecond.
    await admin.database.db.transaction(async (tx) => {
      for (const [run, outcome] of (['ok', 'error', 'ok'] as const).entries()) {
        const entry = { eventType, outcome, durationMs: 1.5, message: `run ${run}`, metadata: { rows: 3 } };
        await addSystemLog(tx, entry);
      }
    });
    const all = await admin.call('GET', `/system-logs?event_type=${eventType}`);
    expect(all.body.data.map((run: { message: string }) => run.message)).toEqual(['run 2', 'run 1', 'run 0']);
    expect(all.body.data[0]).toMatchObject({
      event_type: eventType,
      outcome: 'ok',
      duration_ms: 1.5,
      metadata: { rows: 3 },
    });
    expect((await admin.call('GET', `/system-logs?event_type=${eventType}&outcome=error`)).body.data.length).toBe(1);
    expect((await admin.call('GET', '/system-logs?outcome=maybe')).status).toBe(400);
  });
});
