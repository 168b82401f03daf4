import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createKeySecret, hashSecret } from '@llm0/core/keys/api-key';
import { findPrincipalByHash } from '@llm0/drizzle/queries/access/find-principal';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

describe.each(ON_ONE_DATABASE)('keys on $name', (kind) => {
  let admin: AdminUnderTest;
  let projectId: string;
  beforeAll(async () => {
    admin = await openAdmin(kind);
    projectId = (await admin.createProject()).id;
  }, 60_000);
  afterAll(() => admin.close());

  const createKey = async (body: object = {}) =>
    (await admin.call('POST', `/projects/${projectId}/keys`, { body: { name: 'key', ...body } })).body;
  const principalOf = (secret: string) => findPrincipalByHash(admin.database.db, hashSecret(secret));

  test('pass-through of its own: providers, none, or what its project says', async () => {
    const path = `/projects/${projectId}/keys`;
    const key = (await admin.call('POST', path, { body: { name: 'native', passthrough: ['openai'] } })).body;
    expect(key.passthrough).toEqual(['openai']);
    const change = (passthrough: unknown) =>
      admin.call('PATCH', `${path}/${key.id}`, { body: { passthrough } }).then(({ body }) => body);
    expect((await change([])).passthrough).toEqual([]);
    expect((await change(null)).passthrough).toBeNull();
    expect((await change(['Open AI'])).error.param).toBe('passthrough.0');
  });

  test("a run's usual budget is not above the most that a run may have", async () => {
    const path = `/projects/${projectId}/keys`;
    const above = { max_run_budget_usd: 1, default_run_budget_usd: 1.01 };
    const refused = await admin.call('POST', path, { body: { name: 'agent', ...above } });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'default_run_budget_usd']);
    const { id } = await createKey({ max_run_budget_usd: 1, default_run_budget_usd: 1 });
    expect((await admin.call('PATCH', `${path}/${id}`, { body: { max_run_budget_usd: 0.5 } })).status).toBe(400);
    expect((await admin.call('GET', `${path}/${id}`)).body.max_run_budget_usd).toBe('1');
    expect((await admin.call('PATCH', `${path}/${id}`, { body: { max_run_budget_usd: null } })).status).toBe(200);
  });

  test('a given secret: only in the form of a key, only once, revoked ones included', async () => {
    const path = `/projects/${projectId}/keys`;
    const secret = createKeySecret().secret;
    const made = await admin.call('POST', path, { body: { name: 'given', key: secret } });
    expect([made.status, made.body.key, made.body.prefix]).toEqual([201, secret, secret.slice(0, 16)]);
    expect((await principalOf(secret))?.key.id).toBe(made.body.id);
    const again = await admin.call('POST', path, { body: { name: 'again', key: secret } });
    expect([again.status, again.body.error.param]).toEqual([409, 'key']);
    await admin.call('DELETE', `${path}/${made.body.id}`);
    expect((await admin.call('POST', path, { body: { name: 'again', key: secret } })).status).toBe(409);
    for (const key of ['sk-x', secret.toUpperCase(), `${secret}0`, secret.slice(0, -1), 7]) {
      expect((await admin.call('POST', path, { body: { name: 'odd', key } })).body.error.param).toBe('key');
    }
    expect((await admin.call('PATCH', `${path}/${made.body.id}`, { body: { key: secret } })).status).toBe(400);
  });

  test('labels of its own: names as headers have them, a few, taken away by an empty object', async () => {
    const keys = `/projects/${projectId}/keys`;
    const made = await admin.call('POST', keys, {
      body: { name: 'labelled', labels: { team: 'search', env: 'prod' } },
    });
    expect([made.status, made.body.labels]).toEqual([201, { team: 'search', env: 'prod' }]);
    const at = `${keys}/${made.body.id}`;
    expect((await admin.call('PATCH', at, { body: { labels: { team: 'ads' } } })).body.labels).toEqual({ team: 'ads' });
    expect((await admin.call('PATCH', at, { body: { labels: {} } })).body.labels).toBeNull();
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`l${index}`, 'x']));
    for (const labels of [{ Team: 'x' }, { '': 'x' }, { team: '' }, { team: 'x'.repeat(257) }, many, ['team']]) {
      expect((await admin.call('PATCH', at, { body: { labels } })).body.error.param).toMatch(/^labels/);
    }
  });

  test('a list is searched by name and prefix, and says what each key has been used for', async () => {
    const project = (await admin.createProject()).id;
    const create = async (name: string) =>
      (await admin.call('POST', `/projects/${project}/keys`, { body: { name } })).body;
    const [used, idle] = [await create('Checkout 100%'), await create('batch_jobs')];
    const usage = { projectId: project, apiKeyId: used.id, costNanoUsd: 1_500_000 };
    await insertLogRecords(admin.database.db, [sampleRecord(usage), sampleRecord(usage)]);
    const usedAtMs = Date.now() + 5000;
    await insertLogRecords(admin.database.db, [
      sampleRecord({ ...usage, costNanoUsd: 0, createdAtMs: usedAtMs }),
      sampleRecord({ ...usage, costNanoUsd: 0, createdAtMs: usedAtMs - 60_000, status: 'rate_limited' }),
    ]);
    const list = async (query: string) => (await admin.call('GET', `/projects/${project}/keys?${query}`)).body.data;
    expect(await list('limit=10')).toMatchObject([
      { id: idle.id, last_used_at: null },
      { id: used.id, last_used_at: new Date(usedAtMs).toISOString() },
    ]);
    await insertLogRecords(admin.database.db, [sampleRecord({ ...usage, costNanoUsd: 0, createdAtMs: usedAtMs - 1 })]);
    expect((await list('q=CHECK'))[0].last_used_at).toBe(new Date(usedAtMs).toISOString());
    expect(await list('q=100%25')).toMatchObject([{ id: used.id, requests: 5, spent_usd: '0.003' }]);
    expect(await list('q=CHECK')).toHaveLength(1);
    expect(await list('q=h_j')).toMatchObject([{ id: idle.id, requests: 0, spent_usd: '0' }]);
    expect(await list(`q=${idle.prefix}`)).toMatchObject([{ id: idle.id }]);
    expect(await list('q=nothing')).toEqual([]);
    const days = async (query: string): Promise<number[]> => (await list(query))[0].spend_by_day;
    expect((await days('q=CHECK&spend_days=2')).filter((usd) => usd > 0)).toEqual([0.003]);
    expect(await days('q=h_j&spend_days=3')).toEqual([0, 0, 0]);
    expect(await days('q=h_j')).toBeNull();
    const refused = await admin.call('GET', `/projects/${project}/keys?spend_days=32`);
    expect([refused.status, refused.body.error.param]).toEqual([400, 'spend_days']);
    expect(await list('limit=10')).toHaveLength(2);
    const label = `team-${project.slice(0, 8)}`;
    const path = `/projects/${project}/keys/${used.id}`;
    const labelled = await admin.call('PATCH', path, { body: { labels: { team: label } } });
    expect(labelled.body.labels).toEqual({ team: label });
    expect(await list(`q=${label.slice(2)}`)).toMatchObject([{ id: used.id, labels: { team: label } }]);
    const found = await admin.call('GET', `/keys?q=${label.toUpperCase()}`);
    expect(found.body.data).toMatchObject([{ id: used.id, project_id: project }]);
    await admin.call('DELETE', `/projects/${project}/keys/${idle.id}`);
    const names = await admin.call('GET', `/key-names?ids=${idle.id},${crypto.randomUUID()},${used.id}`);
    expect(new Map(names.body.data.map((key: { id: string; name: string }) => [key.id, key.name]))).toEqual(
      new Map([
        [used.id, 'Checkout 100%'],
        [idle.id, 'batch_jobs'],
      ]),
    );
    expect((await admin.call('GET', '/key-names?ids=1,2')).status).toBe(400);
  });

  test('a new key shows its secret once; only the hash is kept', async () => {
    const answer = await admin.call('POST', `/projects/${projectId}/keys`, { body: { name: 'first' } });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      project_id: projectId,
      name: 'first',
      is_active: true,
      rate_limit_per_minute: 60,
      rate_limit_burst: null,
      tokens_per_minute: null,
      max_concurrency: null,
      allowed_models: null,
      allowed_providers: null,
      expires_at: null,
      budget_usd: null,
      budget_period: 'total',
      daily_budget_usd: null,
      weekly_budget_usd: null,
    });
    const { key, id, prefix } = answer.body;
    expect(key).toMatch(/^llm0_live_[0-9a-f]{64}$/);
    expect(key).toStartWith(prefix);
    expect((await principalOf(key))?.key.id).toBe(id);
    const shownLater = [
      await admin.call('GET', `/projects/${projectId}/keys/${id}`),
      await admin.call('GET', `/projects/${projectId}/keys`),
      await admin.call('GET', `/audit?resource=key&resource_id=${id}`),
    ];
    for (const later of shownLater) {
      expect(later.status).toBe(200);
      expect(later.text).not.toContain(key);
      expect(later.text).not.toContain(hashSecret(key));
      expect(later.text).not.toContain('"key":');
    }
    const rows = await admin.database.client`select to_jsonb(k)::text as json from api_keys k where id = ${id}`;
    expect(rows.length).toBe(1);
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  test('all fields are taken; null is no limit, also for the rate', async () => {
    const settings = {
      rate_limit_per_minute: null,
      rate_limit_burst: 5,
      tokens_per_minute: 1000,
      max_concurrency: 3,
      allowed_models: ['gpt-4o', 'demo/demo-chat'],
      allowed_providers: ['openai', 'infer:rerank'],
      expires_at: '2030-05-06T07:08:09+02:00',
      budget_usd: 0.1,
      budget_period: 'month',
      daily_budget_usd: 0.05,
    };
    expect(await createKey(settings)).toMatchObject({
      ...settings,
      expires_at: '2030-05-06T05:08:09.000Z',
      budget_usd: '0.1',
      daily_budget_usd: '0.05',
    });
  });

  test.each([
    ['rate_limit_per_minute', 0],
    ['rate_limit_per_minute', 2 ** 31],
    ['rate_limit_burst', -1],
    ['tokens_per_minute', '5'],
    ['max_concurrency', 1.5],
    ['allowed_models', []],
    ['allowed_models', 'gpt-4o'],
    ['allowed_providers', []],
    ['allowed_providers', ['Open AI']],
    ['allowed_providers', ['infer:']],
    ['expires_at', 'tomorrow'],
    ['expires_at', '2030-01-01T00:00:00'],
    ['budget_usd', -0.1],
    ['budget_period', 'week'],
    ['weekly_budget_usd', -1],
    ['is_active', true],
    ['key', 'llm0_live_mine'],
  ])('%s: %p is refused', async (field, value) => {
    const answer = await admin.call('POST', `/projects/${projectId}/keys`, { body: { name: 'k', [field]: value } });
    expect(answer.status).toBe(400);
    expect(answer.body.error.param).toStartWith(field);
  });

  test('PATCH merges and raises the version in the hot store before it answers', async () => {
    const created = await createKey({ rate_limit_per_minute: 5, budget_usd: 2, expires_at: '2030-01-01T00:00:00Z' });
    const path = `/projects/${projectId}/keys/${created.id}`;
    const before = await principalOf(created.key);
    const seen: unknown[] = [];
    const { hotStore } = admin.services;
    const setVersions = hotStore.setVersions.bind(hotStore);
    hotStore.setVersions = async (...args) => void seen.push(args);
    const patched = (await admin.call('PATCH', path, { body: { budget_usd: null, is_active: false } })).body;
    hotStore.setVersions = setVersions;
    expect(patched).toMatchObject({
      rate_limit_per_minute: 5,
      budget_usd: null,
      is_active: false,
      expires_at: '2030-01-01T00:00:00.000Z',
    });
    const version = (before?.key.version ?? 0) + 1;
    expect((await principalOf(created.key))?.key.version).toBe(version);
    expect(seen).toEqual([[projectId, null, [{ keyId: created.id, version }]]]);
    expect((await admin.call('PATCH', path, { body: { expires_at: null } })).body.expires_at).toBeNull();
    expect((await admin.call('PATCH', path, { body: { nope: 1 } })).status).toBe(400);
  });

  test('rotate: the same key, a new secret; the old one opens nothing', async () => {
    const created = await createKey({ rate_limit_per_minute: 7 });
    const rotated = await admin.call('POST', `/projects/${projectId}/keys/${created.id}/rotate`);
    expect(rotated.status).toBe(201);
    expect(rotated.body).toMatchObject({ id: created.id, name: 'key', rate_limit_per_minute: 7 });
    expect(rotated.body.key).not.toBe(created.key);
    expect(rotated.body.key).toStartWith(rotated.body.prefix);
    expect(await principalOf(created.key)).toBeNull();
    expect((await principalOf(rotated.body.key))?.key.id).toBe(created.id);
  });

  test('rotate with a grace: the old secret has an end; the next rotation ends the one before', async () => {
    const created = await createKey();
    const path = `/projects/${projectId}/keys/${created.id}`;
    const rotate = async (body?: object) => (await admin.call('POST', `${path}/rotate`, { body })).body;
    const second = await rotate({ grace_seconds: 3600 });
    const endMs = Date.parse(second.previous_secret_expires_at);
    expect(endMs - admin.services.clock.nowMs()).toBeGreaterThan(3_500_000);
    expect(await principalOf(created.key)).toMatchObject({ key: { id: created.id }, secretEndsMs: endMs });
    expect((await principalOf(second.key))?.secretEndsMs).toBeUndefined();
    const audit = async (query: string) =>
      (await admin.call('GET', `/audit?action=rotate&resource_id=${created.id}&${query}`)).body.data;
    const [entry, ...others] = await audit(`from=${created.created_at}`);
    expect(entry.after.previous_secret_expires_at).toBe(second.previous_secret_expires_at);
    expect([others, await audit(`to=${created.created_at}`)]).toEqual([[], []]);
    const unlike = (await admin.call('GET', `/audit?action_not=rotate&resource_id=${created.id}`)).body.data;
    expect(unlike.map(({ action }: { action: string }) => action)).toEqual(['create']);
    // Nobody else may have a secret that still opens this key.
    const taken = await admin.call('POST', `/projects/${projectId}/keys`, { body: { name: 'x', key: created.key } });
    expect([taken.status, taken.body.error.param]).toEqual([409, 'key']);
    const third = await rotate({ grace_seconds: 1 });
    expect(await principalOf(created.key)).toBeNull();
    expect((await principalOf(second.key))?.key.id).toBe(created.id);
    const fourth = await rotate({ grace_seconds: null });
    expect(fourth.previous_secret_expires_at).toBeNull();
    expect(await principalOf(third.key)).toBeNull();
    for (const grace_seconds of [-1, 1.5, 604_801, '1h']) {
      expect((await rotate({ grace_seconds })).error.param).toBe('grace_seconds');
    }
    expect((await principalOf(fourth.key))?.key.id).toBe(created.id);
  });

  test('without the hot store a rotation is not begun', async () => {
    const created = await createKey();
    const { hotStore } = admin.services;
    const health = hotStore.health.bind(hotStore);
    hotStore.health = async () => ({ ok: false, detail: 'gone' });
    const answer = await admin.call('POST', `/projects/${projectId}/keys/${created.id}/rotate`);
    hotStore.health = health;
    expect([answer.status, answer.body.error.code]).toEqual([503, 'store_unavailable']);
    expect((await principalOf(created.key))?.key.id).toBe(created.id);
  });

  test('revoked: gone from the API, refused by the data plane', async () => {
    const created = await createKey();
    const path = `/projects/${projectId}/keys/${created.id}`;
    expect((await admin.call('DELETE', path)).status).toBe(204);
    expect((await admin.call('GET', path)).status).toBe(404);
    expect((await admin.call('DELETE', path)).status).toBe(404);
    expect((await principalOf(created.key))?.key.isActive).toBe(false);
    const listed = (await admin.call('GET', `/projects/${projectId}/keys?limit=1000`)).body.data;
    expect(listed.map((key: { id: string }) => key.id)).not.toContain(created.id);
  });

  test('a key is found in its own project only', async () => {
    const created = await createKey();
    const other = await admin.createProject();
    for (const id of [other.id, crypto.randomUUID()]) {
      expect((await admin.call('GET', `/projects/${id}/keys/${created.id}`)).status).toBe(404);
      expect((await admin.call('POST', `/projects/${id}/keys/${created.id}/rotate`)).status).toBe(404);
    }
    expect((await admin.call('GET', `/projects/${crypto.randomUUID()}/keys`)).status).toBe(404);
    expect((await admin.call('GET', `/projects/${projectId}/keys/nope`)).body.error.param).toBe('key_id');
    const orphan = await admin.call('POST', `/projects/${crypto.randomUUID()}/keys`, { body: { name: 'x' } });
    expect(orphan.status).toBe(404);
  });

  test('the list is walked by cursor', async () => {
    const project = await admin.createProject();
    for (let index = 0; index < 5; index++) {
      await admin.call('POST', `/projects/${project.id}/keys`, { body: { name: `k${index}` } });
    }
    const names: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await admin.call(
        'GET',
        `/projects/${project.id}/keys?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      names.push(...page.body.data.map((key: { name: string }) => key.name));
      cursor = page.body.next_cursor;
    } while (cursor !== null);
    expect(names).toEqual(['k4', 'k3', 'k2', 'k1', 'k0']);
  });

  test('saved but not in force: 503 says so, and it is brought into force as soon as the store answers', async () => {
    const created = await createKey();
    const { hotStore } = admin.services;
    const setVersions = hotStore.setVersions.bind(hotStore);
    hotStore.setVersions = async () => {
      throw new Error('gone');
    };
    const answer = await admin.call('DELETE', `/projects/${projectId}/keys/${created.id}`);
    expect([answer.status, answer.body.error.code]).toEqual([503, 'store_unavailable']);
    expect(answer.body.error.message).toContain('Saved, but not active yet');
    expect((await principalOf(created.key))?.key.isActive).toBe(false);
    const taken = Promise.withResolvers<unknown>();
    hotStore.setVersions = async (...args) => {
      await setVersions(...args);
      taken.resolve(args);
    };
    expect(await taken.promise).toEqual([projectId, null, [{ keyId: created.id, version: 2 }]]);
    hotStore.setVersions = setVersions;
  });

  test('a new key is shown even while the hot store is away', async () => {
    const { hotStore } = admin.services;
    const setVersions = hotStore.setVersions.bind(hotStore);
    hotStore.setVersions = async () => {
      throw new Error('gone');
    };
    const answer = await admin.call('POST', `/projects/${projectId}/keys`, { body: { name: 'k' } });
    hotStore.setVersions = setVersions;
    expect(answer.status).toBe(201);
    expect(answer.body.key).toMatch(/^llm0_live_/);
  });
});
