import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { DEFAULT_TEAM_ID } from '@llm0/drizzle/queries/access/teams';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);
const unknownId = crypto.randomUUID();

describe.each(ON_ONE_DATABASE)('projects on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  const auditOf = async (resourceId: string) =>
    (await admin.call('GET', `/audit?resource=project&resource_id=${resourceId}`)).body.data;

  test('a name is enough: everything else has its default', async () => {
    const answer = await admin.call('POST', '/projects', { body: { name: 'plain' } });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: UUID,
      name: 'plain',
      team_id: DEFAULT_TEAM_ID,
      cost_center: null,
      monthly_cap_usd: null,
      daily_budget_usd: null,
      weekly_budget_usd: null,
      team_share_usd: null,
      team_overdraft: true,
      strict_caps: false,
      default_output_tokens: 4096,
      cache_enabled: true,
      cache_ttl_seconds: null,
      semantic_cache_enabled: false,
      semantic_threshold: null,
      semantic_shadow: false,
      cache_tool_calls: false,
      share_responses: false,
      drop_params: null,
      failover: null,
      allowed_models: null,
      allowed_providers: null,
      passthrough: null,
      allowed_tools: null,
      code_mode: false,
      labels: null,
      on_store_failure: 'closed',
      unknown_model_policy: null,
      max_customers: 100_000,
      queue_timeout_ms: null,
      is_active: true,
      created_at: TIME,
      updated_at: TIME,
    });
    expect((await admin.call('GET', `/projects/${answer.body.id}`)).body).toEqual(answer.body);
  });

  test('all fields are taken', async () => {
    const settings = {
      name: 'all',
      cost_center: '47 11',
      daily_budget_usd: '20.5',
      weekly_budget_usd: '100',
      team_share_usd: '7.5',
      team_overdraft: false,
      strict_caps: true,
      queue_timeout_ms: 5000,
      default_output_tokens: 100,
      cache_enabled: false,
      cache_ttl_seconds: 60,
      semantic_cache_enabled: true,
      cache_tool_calls: true,
      share_responses: true,
      drop_params: true,
      semantic_threshold: 0.93,
      semantic_shadow: true,
      on_store_failure: 'closed',
      unknown_model_policy: 'allow_unpriced',
      is_active: false,
    };
    const answer = await admin.call('POST', '/projects', { body: settings });
    expect(answer.body).toMatchObject(settings);
  });

  test.each([
    ['0.1', '0.1'],
    ['"12.5"', '12.5'],
    ['0.000000001', '0.000000001'],
    ['1e-9', '0.000000001'],
    ['100', '100'],
    ['100.00', '100'],
    ['0', '0'],
    ['9000000.123456789', '9000000.123456789'],
    ['"9000000.123456789"', '9000000.123456789'],
    ['null', null],
  ])('a cap of %s is kept to the nano-dollar', async (sent, shown) => {
    const answer = await admin.call('POST', '/projects', { rawBody: `{"name":"money","monthly_cap_usd":${sent}}` });
    expect(answer.status).toBe(201);
    expect(answer.body.monthly_cap_usd).toBe(shown);
    expect(answer.text).toContain(`"monthly_cap_usd":${shown}`);
    expect((await admin.call('GET', `/projects/${answer.body.id}`)).body.monthly_cap_usd).toBe(shown);
  });

  test.each([
    ['{"name":"x","monthly_cap_usd":-1}', 'monthly_cap_usd'],
    ['{"name":"x","monthly_cap_usd":0.0000000001}', 'monthly_cap_usd'],
    ['{"name":"x","monthly_cap_usd":1e-10}', 'monthly_cap_usd'],
    ['{"name":"x","monthly_cap_usd":99999999}', 'monthly_cap_usd'],
    ['{"name":"x","monthly_cap_usd":"ten"}', 'monthly_cap_usd'],
    ['{"name":"x","monthly_cap_usd":true}', 'monthly_cap_usd'],
    ['{"name":""}', 'name'],
    ['{"name":7}', 'name'],
    ['{}', 'name'],
    ['{"name":"a\\u0000b"}', 'name'],
    ['{"name":"x","monthly_cap":5}', 'monthly_cap'],
    ['{"name":"x","semantic_threshold":2}', 'semantic_threshold'],
    ['{"name":"x","default_output_tokens":1.5}', 'default_output_tokens'],
    ['{"name":"x","cache_ttl_seconds":0}', 'cache_ttl_seconds'],
    ['{"name":"x","on_store_failure":"maybe"}', 'on_store_failure'],
    ['{"name":"x","strict_caps":true,"on_store_failure":"open"}', 'on_store_failure'],
  ])('%s is refused, naming the field', async (rawBody, param) => {
    const answer = await admin.call('POST', '/projects', { rawBody });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'invalid_request', param });
    expect(answer.body.error.message).toContain(param);
  });

  test('PATCH changes what is sent, null takes a limit away', async () => {
    const project = await admin.createProject({ monthly_cap_usd: '5.5', cache_ttl_seconds: 10 });
    const patch = async (body: object) => (await admin.call('PATCH', `/projects/${project.id}`, { body })).body;
    expect(await patch({ name: 'renamed' })).toMatchObject({
      name: 'renamed',
      monthly_cap_usd: '5.5',
      cache_ttl_seconds: 10,
    });
    expect(await patch({ monthly_cap_usd: null })).toMatchObject({ name: 'renamed', monthly_cap_usd: null });
    expect(await patch({})).toMatchObject({ name: 'renamed', cache_ttl_seconds: 10 });
    expect(await patch({ default_output_tokens: 7 })).toMatchObject({ default_output_tokens: 7 });
    expect(await patch({ default_output_tokens: null })).toMatchObject({ default_output_tokens: 4096 });
    const wrong = await admin.call('PATCH', `/projects/${project.id}`, { body: { nmae: 'x' } });
    expect(wrong.body.error.param).toBe('nmae');
  });

  test('pass-through: providers by name, each once; in the audit', async () => {
    const project = await admin.createProject({ passthrough: ['openai', 'groq', 'openai'] });
    expect(project.passthrough).toEqual(['openai', 'groq']);
    const change = (passthrough: unknown) =>
      admin.call('PATCH', `/projects/${project.id}`, { body: { passthrough } }).then(({ body }) => body);
    expect((await change(['openai'])).passthrough).toEqual(['openai']);
    expect((await change([])).passthrough).toEqual([]);
    expect((await change(null)).passthrough).toBeNull();
    expect((await change(['*'])).error.param).toBe('passthrough.0');
    expect((await change('openai')).error.param).toBe('passthrough');
    const [, , last] = (await auditOf(project.id)).toReversed();
    expect([last.before.passthrough, last.after.passthrough]).toEqual([['openai'], []]);
  });

  test('strict_caps and an open store failure cannot be brought together by two changes', async () => {
    const project = await admin.createProject({ on_store_failure: 'open' });
    const answer = await admin.call('PATCH', `/projects/${project.id}`, { body: { strict_caps: true } });
    expect(answer.status).toBe(400);
    expect((await admin.call('GET', `/projects/${project.id}`)).body.strict_caps).toBe(false);
    expect((await auditOf(project.id)).map((entry: { action: string }) => entry.action)).toEqual(['create']);
  });

  test('a change is in the hot store when it is answered', async () => {
    const project = await admin.createProject();
    const seen: unknown[] = [];
    const { hotStore } = admin.services;
    const setVersions = hotStore.setVersions.bind(hotStore);
    hotStore.setVersions = async (...args) => {
      seen.push(args);
      await setVersions(...args);
    };
    await admin.call('PATCH', `/projects/${project.id}`, { body: { name: 'second' } });
    await admin.call('DELETE', `/projects/${project.id}`);
    hotStore.setVersions = setVersions;
    expect(seen).toEqual([
      [project.id, 2, []],
      [project.id, 3, []],
    ]);
  });

  test('DELETE hides it; unknown and malformed ids', async () => {
    const project = await admin.createProject();
    expect((await admin.call('DELETE', `/projects/${project.id}`)).status).toBe(204);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { name: 'x' } : undefined;
      expect((await admin.call(method, `/projects/${project.id}`, { body })).status).toBe(404);
      expect((await admin.call(method, `/projects/${unknownId}`, { body })).status).toBe(404);
      const malformed = await admin.call(method, '/projects/not-a-uuid', { body });
      expect([malformed.status, malformed.body.error.param]).toEqual([400, 'id']);
    }
    expect((await admin.call('GET', '/projects/00000000-0000-0000-0000-000000000001')).status).toBe(404);
    const idsOf = async (query: string) =>
      (await admin.call('GET', `/projects?limit=1000${query}`)).body.data.map((one: { id: string }) => one.id);
    const lists = [await idsOf(''), await idsOf('&deleted=false'), await idsOf('&deleted=true')];
    expect(lists.map((ids) => ids.includes(project.id))).toEqual([false, false, true]);
    expect(lists[0].filter((id: string) => lists[2].includes(id))).toEqual([]);
  });

  test('the list is walked by cursor, newest first, without gaps or repeats', async () => {
    const made: string[] = [];
    for (let index = 0; index < 7; index++) made.push((await admin.createProject({ name: `walk ${index}` })).id);
    const walked: { id: string; created_at: string }[] = [];
    let cursor: string | null = '';
    for (let _pages = 0; cursor !== null && walked.length < 7; _pages++) {
      const page = await admin.call('GET', `/projects?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      expect(page.body.data.length).toBeLessThanOrEqual(3);
      walked.push(...page.body.data);
      cursor = page.body.next_cursor;
    }
    const found = walked.slice(0, 7);
    expect(found.map(({ id }) => id).sort()).toEqual(made.sort());
    // Several may be made within a millisecond.
    const times = found.map(({ created_at: at }) => at);
    expect(times).toEqual(times.toSorted().reverse());
    expect((await admin.call('GET', '/projects?limit=1000')).body.next_cursor).toBeNull();
  });

  test.each(['limit=0', 'limit=1001', 'limit=x', 'cursor=nonsense', 'sort=name'])('?%s is refused', async (query) => {
    const answer = await admin.call('GET', `/projects?${query}`);
    expect([answer.status, answer.body.error.param]).toEqual([400, query.split('=')[0]]);
  });

  test('every change leaves a row in the audit with before and after', async () => {
    const project = await admin.createProject({ monthly_cap_usd: '0.000000001' });
    await admin.call('PATCH', `/projects/${project.id}`, { body: { monthly_cap_usd: '9000000.123456789' } });
    await admin.call('DELETE', `/projects/${project.id}`);
    const [deleted, updated, created] = await auditOf(project.id);
    expect(created).toMatchObject({ actor: 'ADMIN_TOKEN', action: 'create', resource: 'project', before: null });
    expect(created.after.monthly_cap_usd).toBe('0.000000001');
    expect(updated).toMatchObject({ action: 'update', before: { monthly_cap_usd: '0.000000001' } });
    expect(updated.after.monthly_cap_usd).toBe('9000000.123456789');
    expect(deleted).toMatchObject({ action: 'delete', before: { id: project.id }, after: null, created_at: TIME });
  });
});
