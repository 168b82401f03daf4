import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from './admin.fixture';

describe.each(ON_ONE_DATABASE)('aliases and chains on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());
  const uniqueName = () => `name-${crypto.randomUUID().slice(0, 8)}`;
  const targets = [
    { provider: 'openai', model: 'a/b' },
    { provider: 'groq', model: 'c', weight: 3 },
  ];

  test('an alias: create, show, list, change, delete; live each time', async () => {
    const alias = uniqueName();
    const before = [admin.reloads(), admin.notified.length];
    const created = await admin.call('POST', '/aliases', { body: { alias, targets, strategy: 'weighted' } });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      alias,
      project_id: null,
      strategy: 'weighted',
      targets: [
        { provider: 'openai', model: 'a/b', weight: 1, is_configured: false, is_priced: false },
        { provider: 'groq', model: 'c', weight: 3 },
      ],
    });
    const path = `/aliases/${created.body.id}`;
    expect((await admin.call('GET', path)).body).toEqual(created.body);
    expect((await admin.call('GET', `/aliases?alias=${alias}`)).body.data).toEqual([created.body]);
    const hedged = await admin.call('PATCH', path, { body: { hedge_after_ms: 250 } });
    expect([created.body.hedge_after_ms, hedged.body.hedge_after_ms]).toEqual([null, 250]);
    expect((await admin.call('PATCH', path, { body: { strategy: 'priority' } })).body.hedge_after_ms).toBe(250);
    expect((await admin.call('PATCH', path, { body: { hedge_after_ms: null } })).body.hedge_after_ms).toBeNull();
    const changed = await admin.call('PATCH', path, { body: { strategy: 'cheapest' } });
    expect(changed.body).toMatchObject({ strategy: 'cheapest', targets: created.body.targets });
    expect((await admin.call('DELETE', path)).status).toBe(204);
    expect((await admin.call('GET', path)).status).toBe(404);
    expect((await admin.call('DELETE', path)).status).toBe(404);
    expect((await admin.call('PATCH', path, { body: { strategy: 'cheapest' } })).status).toBe(404);
    expect([admin.reloads(), admin.notified.length]).toEqual([(before[0] ?? 0) + 6, (before[1] ?? 0) + 6]);
  });

  test('failover and time-outs of an alias: kept one by one, and back to what is usual', async () => {
    const timed = [{ ...targets[0], request_timeout_ms: 2000, answer_timeout_ms: null }, targets[1]];
    const body = { alias: uniqueName(), targets: timed, failover: 'on', retry_timeouts: true, hedge_after_ms: 90 };
    const made = (await admin.call('POST', '/aliases', { body })).body;
    expect(made).toMatchObject({ failover: 'on', retry_timeouts: true });
    expect(made.targets).toMatchObject([
      { request_timeout_ms: 2000, answer_timeout_ms: null },
      { request_timeout_ms: null, answer_timeout_ms: null },
    ]);
    const path = `/aliases/${made.id}`;
    const patch = async (change: object) => (await admin.call('PATCH', path, { body: change })).body;
    const { updated_at: _, ...unchanged } = made;
    expect(await patch({ failover: 'off' })).toMatchObject({ ...unchanged, failover: 'off' });
    expect(await patch({ failover: null, retry_timeouts: false })).toMatchObject({
      ...{ failover: null, retry_timeouts: false, hedge_after_ms: 90, session_affinity: true },
    });
  });

  test('time-outs and drain of a provider', async () => {
    const name = uniqueName();
    const body = { name, base_url: 'http://127.0.0.1:9/v1', request_timeout_ms: 5000 };
    const made = await admin.call('POST', '/providers', { body });
    expect(made.body).toMatchObject({ request_timeout_ms: 5000, answer_timeout_ms: null, drain: false });
    for (const drain of [true, false]) {
      expect((await admin.call('PATCH', `/providers/${name}`, { body: { drain } })).body.drain).toBe(drain);
    }
    const change = { request_timeout_ms: null, answer_timeout_ms: 900_000 };
    expect((await admin.call('PATCH', `/providers/${name}`, { body: change })).body).toMatchObject(change);
    const wrong = await admin.call('PATCH', `/providers/${name}`, { body: { answer_timeout_ms: 0 } });
    expect([wrong.status, wrong.body.error.param]).toEqual([400, 'answer_timeout_ms']);
  });

  test('limits and health checks of a provider and its keys', async () => {
    const name = uniqueName();
    const body = { name, base_url: 'http://127.0.0.1:9/v1', key: 'sk-x', max_concurrency: 8 };
    const made = await admin.call('POST', '/providers', { body });
    expect(made.body).toMatchObject({ max_concurrency: 8, health_check_interval_ms: null, health_check: null });
    const patch = (path: string, change: object) => admin.call('PATCH', `/providers/${name}${path}`, { body: change });
    const checked = (await patch('', { max_concurrency: null, health_check_interval_ms: 5000 })).body;
    expect(checked).toMatchObject({ max_concurrency: null, health_check_interval_ms: 5000, health_check: 'ok' });
    const paused = { model: '', mode: 'closed' as const, openForMs: 0, coolForMs: 9000 };
    admin.targets.push({ provider: `check:${name}`, ...paused });
    const shown = (await admin.call('GET', `/providers/${name}`)).body;
    expect([shown.health_check, shown.targets]).toEqual(['failing', []]);
    admin.targets.length = 0;
    const key = `/keys/${made.body.keys[0].id}`;
    for (const limit of [2, null])
      expect((await patch(key, { max_concurrency: limit })).body.max_concurrency).toBe(limit);
    const second = await admin.call('POST', `/providers/${name}/keys`, { body: { key: 'sk-y', max_concurrency: 3 } });
    expect([second.status, second.body.max_concurrency]).toEqual([201, 3]);
    for (const [field, value] of [
      ['max_concurrency', 0],
      ['health_check_interval_ms', 999],
    ] as const) {
      const wrong = await patch('', { [field]: value });
      expect([wrong.status, wrong.body.error.param]).toEqual([400, field]);
    }
    const none = await admin.call('POST', '/providers', { body: { name: 'bedrock', health_check_interval_ms: 5000 } });
    expect([none.status, none.body.error.param]).toEqual([400, 'health_check_interval_ms']);
  });

  test('a vendor of which nothing is stored can be changed, too; an unknown name cannot', async () => {
    const drained = await admin.call('PATCH', '/providers/xai', { body: { drain: true } });
    expect([drained.status, drained.body.is_stored, drained.body.drain]).toEqual([200, true, true]);
    expect((await admin.call('DELETE', '/providers/xai')).status).toBe(204);
    expect((await admin.call('GET', '/providers/xai')).body).toMatchObject({ is_stored: false, drain: false });
    for (const name of ['nobody', 'demo']) {
      expect((await admin.call('PATCH', `/providers/${name}`, { body: { drain: true } })).status).toBe(404);
    }
  });

  test('a name is taken once for each project and once for all', async () => {
    const alias = uniqueName();
    const { id: projectId } = await admin.createProject();
    const create = (project_id: string | null) =>
      admin.call('POST', '/aliases', { body: { alias, project_id, targets } });
    expect([(await create(null)).status, (await create(projectId)).status]).toEqual([201, 201]);
    for (const project of [null, projectId]) {
      const again = await create(project);
      expect([again.status, again.body.error.param]).toEqual([409, 'alias']);
    }
    expect((await create(crypto.randomUUID())).status).toBe(404);
    expect((await admin.call('GET', `/aliases?project_id=${projectId}`)).body.data).toHaveLength(1);
  });

  test.each<[string, object, string]>([
    ['no targets', { targets: [] }, 'targets'],
    ['a target twice', { targets: [targets[0], targets[0]] }, 'targets'],
    ['an unknown strategy', { targets, strategy: 'best' }, 'strategy'],
    ['a negative weight', { targets: [{ provider: 'p', model: 'm', weight: -1 }] }, 'targets.0.weight'],
    ['a target without a model', { targets: [{ provider: 'p' }] }, 'targets.0.model'],
    ['a failover that is none', { targets, failover: 'maybe' }, 'failover'],
    ['no time at all', { targets: [{ ...targets[0], request_timeout_ms: 0 }] }, 'targets.0.request_timeout_ms'],
    ['an unknown field', { targets, fallback: true }, 'fallback'],
    ['an unknown provider', { targets: [targets[0], { provider: 'opnai', model: 'm' }] }, 'targets.1.provider'],
  ])('an alias with %s is refused', async (_name, body, param) => {
    const answer = await admin.call('POST', '/aliases', { body: { alias: 'x', ...body } });
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  });

  test('presets are there, can be edited, and come back', async () => {
    const list = (await admin.call('GET', '/chains')).body;
    const preset = list.data.find((one: { name: string }) => one.name === 'budget');
    expect(preset).toMatchObject({ is_preset: true, edited: false, updated_at: null, local_tier: 'budget' });
    expect(preset.targets).toHaveLength(3);
    const body = {
      targets: [
        { provider: 'openai', model: 'm' },
        { provider: 'groq', model: 'n', matches: ['n*'] },
      ],
    };
    const edited = await admin.call('PUT', '/chains/budget', { body });
    expect(edited.status).toBe(200);
    expect(edited.body).toMatchObject({
      is_preset: true,
      edited: true,
      local_tier: null,
      targets: [
        { provider: 'openai', model: 'm', matches: ['m'] },
        { provider: 'groq', model: 'n', matches: ['n*'] },
      ],
    });
    expect((await admin.call('GET', '/chains/budget')).body).toEqual(edited.body);
    expect((await admin.call('DELETE', '/chains/budget')).status).toBe(204);
    expect((await admin.call('GET', '/chains/budget')).body).toEqual(preset);
    expect((await admin.call('DELETE', '/chains/budget')).status).toBe(404);
  });

  test('a provider that nobody knows is refused, in chains and in changes too; one that was added is known', async () => {
    const unknown = [{ provider: 'opnai', model: 'm' }];
    const alias = (await admin.call('POST', '/aliases', { body: { alias: uniqueName(), targets } })).body;
    for (const [method, path] of [
      ['PUT', `/chains/${uniqueName()}`],
      ['PATCH', `/aliases/${alias.id}`],
    ] as const) {
      const answer = await admin.call(method, path, { body: { targets: unknown } });
      expect([answer.status, answer.body.error.param]).toEqual([400, 'targets.0.provider']);
      expect(answer.body.error.message).toContain('There is no provider "opnai". ');
    }
    await admin.call('POST', '/providers', { body: { name: 'opnai', base_url: 'http://127.0.0.1:9/v1' } });
    expect((await admin.call('PATCH', `/aliases/${alias.id}`, { body: { targets: unknown } })).status).toBe(200);
    await admin.call('DELETE', '/providers/opnai');
    expect((await admin.call('PATCH', `/aliases/${alias.id}`, { body: { strategy: 'cheapest' } })).status).toBe(200);
  });

  test('a chain of one’s own', async () => {
    const name = uniqueName();
    expect((await admin.call('GET', `/chains/${name}`)).status).toBe(404);
    const made = await admin.call('PUT', `/chains/${name}`, {
      body: { targets: [], local_tier: 'flagship', hedge_after_ms: 90 },
    });
    expect(made.body).toMatchObject({
      name,
      is_preset: false,
      local_tier: 'flagship',
      hedge_after_ms: 90,
      targets: [],
    });
    expect((await admin.call('PUT', `/chains/${name}`, { body: { targets: [], local_tier: 'huge' } })).status).toBe(
      400,
    );
    expect((await admin.call('DELETE', `/chains/${name}`)).status).toBe(204);
    const audit = (await admin.call('GET', '/audit?limit=2')).body.data;
    expect(audit.map((one: { action: string; resource: string }) => [one.action, one.resource])).toEqual([
      ['delete', 'chain'],
      ['create', 'chain'],
    ]);
  });
});
