import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { closedVault } from '@llm0/core/keys/secret-vault';
import { listPrices } from '@llm0/drizzle/queries/routing/model-pricing';
import { type FakeUpstream, startFakeUpstream } from '@llm0/testing/fake-upstream/start-fake-upstream';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, type Answer, openAdmin } from '../admin.fixture';

const SECRET = 'sk-verysecret-0123456789-LAST';
const HEADER_SECRET = 'tenant-secret-9876543210';
/** Looks like nobody's key. */
const ODD_SECRET = 'Zebra.crossing.at.night';

describe.each(ON_ONE_DATABASE)('providers on $name', (kind) => {
  let admin: AdminUnderTest;
  let upstream: FakeUpstream;
  const name = `custom-${crypto.randomUUID().slice(0, 8)}`;
  /** Everything that the API said, to be searched for secrets in the end. */
  const said: string[] = [];
  beforeAll(async () => {
    admin = await openAdmin(kind);
    upstream = startFakeUpstream();
  }, 60_000);
  beforeEach(() => upstream.control.reset());
  afterAll(async () => {
    await upstream.stop();
    await admin.close();
  });

  const call = async (method: string, path: string, body?: object): Promise<Answer> => {
    const answer = await admin.call(method, path, body === undefined ? {} : { body });
    said.push(answer.text);
    return answer;
  };
  const custom = () => ({
    name,
    base_url: `${upstream.baseUrl}/`,
    key: SECRET,
    headers: { 'X-Tenant': HEADER_SECRET },
    models: [{ model: 'own-large', input_usd_per_million: '1.5', output_usd_per_million: 6, context_window: 32_000 }],
  });
  const addKey = async (key: string, more: object = {}) =>
    (await call('POST', `/providers/${name}/keys`, { key, ...more })).body;

  test('one is added with key, headers and priced models; nothing secret comes back', async () => {
    const answer = await call('POST', '/providers', custom());
    expect([answer.status, answer.body]).toMatchObject([
      201,
      {
        name,
        kind: 'openai-compatible',
        base_url: upstream.baseUrl,
        is_configured: true,
        is_stored: true,
        header_names: ['X-Tenant'],
        models: ['own-large'],
        keys: [{ name: 'default', last_characters: 'LAST', state: 'ok', project_id: null }],
      },
    ]);
    const price = (await listPrices(admin.database.db)).find((one) => one.provider === name);
    expect(price).toMatchObject({ model: 'own-large', prices: { input: 1_500_000, output: 6_000_000 } });
    expect(admin.notified.at(-1)).toBe('tables');
    expect((await call('POST', '/providers', custom())).status).toBe(409);
    expect((await call('GET', `/providers/${name}`)).body.keys).toHaveLength(1);
  });

  test('a test asks with key and headers: the list for nothing, or a model for a word', async () => {
    const listed = await call('POST', `/providers/${name}/test`, {});
    expect([listed.status, listed.body]).toMatchObject([
      200,
      { ok: true, check: 'models', http_status: 200, error: null },
    ]);
    const asked = await call('POST', `/providers/${name}/test`, { model: 'own-large' });
    expect(asked.body).toMatchObject({ ok: true, check: 'chat', model: 'own-large' });
    const [request] = upstream.requests;
    expect(request?.headers).toMatchObject({ authorization: `Bearer ${SECRET}`, 'x-tenant': HEADER_SECRET });
    expect(request?.body.max_tokens ?? request?.body.max_completion_tokens).toBe(16);
  });

  test('a test that fails says how, a refused key is marked, and a new one starts anew', async () => {
    upstream.control.setDefault({
      status: 401,
      body: JSON.stringify({ error: { message: `Incorrect key ${SECRET}` } }),
    });
    const [key] = (await call('GET', `/providers/${name}/keys`)).body.data;
    const failed = await call('POST', `/providers/${name}/test`, { model: 'own-large', key_id: key.id });
    expect(failed.body).toMatchObject({
      ok: false,
      http_status: 401,
      error: { code: 'upstream_error', failure: 'auth', message: expect.stringContaining('Incorrect key') },
    });
    const state = async () => (await call('GET', `/providers/${name}/keys`)).body.data[0].state;
    expect(await state()).toBe('refused');
    const changed = await call('PATCH', `/providers/${name}/keys/${key.id}`, { key: `${SECRET}-NEWS`, name: 'second' });
    expect(changed.body).toMatchObject({ name: 'second', last_characters: 'NEWS', state: 'ok' });
    upstream.control.reset();
    await call('POST', `/providers/${name}/test`, { model: 'own-large' });
    expect(upstream.requests[0]?.headers.authorization).toBe(`Bearer ${SECRET}-NEWS`);
  });

  test('a successful test, a change or a new key reopens a target in all processes', async () => {
    const restored = () => admin.restored.splice(0);
    restored();
    upstream.control.setDefault({ status: 503, body: '{}' });
    await call('POST', `/providers/${name}/test`, { model: 'own-large' });
    await call('PATCH', `/providers/${name}`, { passthrough_paths: [] });
    expect(restored()).toEqual([]);
    upstream.control.setDefault({});
    expect((await call('POST', `/providers/${name}/test`, { model: 'own-large' })).body.ok).toBe(true);
    expect(restored()).toEqual([name]);
    await call('PATCH', `/providers/${name}`, { is_active: true });
    const { id } = (await call('POST', `/providers/${name}/keys`, { key: 'sk-another-0123456789' })).body;
    expect(restored()).toEqual([name, name]);
    await call('DELETE', `/providers/${name}/keys/${id}`);
  });

  test('keys of one project, switched off, and deleted', async () => {
    const project = await admin.createProject();
    const own = await addKey('sk-of-the-project-1234567890', { project_id: project.id, name: 'own' });
    expect(own).toMatchObject({ project_id: project.id, last_characters: '7890', state: 'ok' });
    const listed = await call('GET', `/providers/${name}/keys?project_id=${project.id}`);
    expect(listed.body.data.map((key: { id: string }) => key.id)).toEqual([own.id]);
    await call('POST', `/providers/${name}/test`, { model: 'own-large', project_id: project.id });
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer sk-of-the-project-1234567890');
    const path = `/providers/${name}/keys/${own.id}`;
    expect((await call('PATCH', path, { is_active: false })).body.state).toBe('inactive');
    await call('POST', `/providers/${name}/test`, { model: 'own-large', project_id: project.id });
    expect(upstream.requests[1]?.headers.authorization).toBe(`Bearer ${SECRET}-NEWS`);
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('DELETE', path)).status).toBe(404);
    expect((await call('POST', `/providers/${name}/keys`, { key: 'x', project_id: crypto.randomUUID() })).status).toBe(
      404,
    );
  });

  test('a vendor that repeats key and headers has them taken out of its words', async () => {
    const odd = await addKey(ODD_SECRET);
    const message = `no such key: ${ODD_SECRET}, tenant ${HEADER_SECRET}`;
    upstream.control.setDefault({ status: 400, body: JSON.stringify({ error: { message } }) });
    const failed = await call('POST', `/providers/${name}/test`, { model: 'own-large', key_id: odd.id });
    expect(failed.body.error.message).toContain('no such key: [redacted], tenant [redacted]');
    await call('DELETE', `/providers/${name}/keys/${odd.id}`);
  });

  test('a known vendor gets its keys the same way; it needs no base URL', async () => {
    const created = await call('POST', '/providers/groq/keys', { key: 'gsk_0123456789abcdefghij' });
    expect(created.status).toBe(201);
    expect((await call('GET', '/providers/groq')).body).toMatchObject({
      kind: 'groq',
      is_configured: true,
      is_stored: false,
      base_url: 'https://api.groq.com/openai/v1',
    });
    expect((await call('DELETE', `/providers/groq/keys/${created.body.id}`)).status).toBe(204);
    expect((await call('GET', '/providers/groq')).body.is_configured).toBe(false);
    expect((await call('POST', '/providers/groq/test', {})).status).toBe(409);
  });

  test('all are listed, page by page', async () => {
    const names: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Answer = await call('GET', `/providers?limit=4${cursor === null ? '' : `&cursor=${cursor}`}`);
      names.push(...page.body.data.map((one: { name: string }) => one.name));
      cursor = page.body.next_cursor;
    } while (cursor !== null);
    expect(names).toContain(name);
    expect(names).toContain('bedrock');
    expect(names).not.toContain('demo');
    expect(names).toEqual([...names].sort());
  });

  test.each([
    ['http://169.254.169.254/latest', 'base_url'],
    ['http://10.0.0.1/v1', 'base_url'],
    ['http://[::1]/v1', 'base_url'],
    ['ftp://example.com', 'base_url'],
    ['https://user:pass@example.com/v1', 'base_url'],
    ['https://example.com/v1?key=abc', 'base_url'],
    [null, 'base_url'],
  ])('base URL %p is refused', async (base_url, param) => {
    const answer = await call('POST', '/providers', { name: 'never', base_url });
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
    if (base_url !== null) expect((await call('PATCH', `/providers/${name}`, { base_url })).status).toBe(400);
  });

  test.each<[object, string]>([
    [{ name: 'Upper' }, 'name'],
    [{ name: 'x', kind: 'groq' }, 'kind'],
    [{ name: 'x', headers: { Host: 'evil' } }, 'headers.Host'],
    [{ name: 'x', headers: { 'X-A': 'a\nb' } }, 'headers.X-A'],
    [{ name: 'x', key: 'with space' }, 'key'],
    [{ name: 'x', models: [{ model: 'm' }] }, 'models.0.input_usd_per_million'],
    [{ name: 'x', models: [{ model: 'm', mode: 'chat', image_usd: 1 }] }, 'models.0.input_usd_per_million'],
  ])('%p is refused', async (body, param) => {
    const answer = await call('POST', '/providers', { base_url: upstream.baseUrl, ...body });
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  });

  test('the built-in one cannot be replaced', async () => {
    expect((await call('POST', '/providers', { name: 'demo', base_url: upstream.baseUrl })).status).toBe(409);
  });

  test('changes replace models and headers as a whole; a model that goes loses its price', async () => {
    const changed = await call('PATCH', `/providers/${name}`, {
      headers: null,
      models: [
        { model: 'own-small', input_usd_per_million: 0, output_usd_per_million: 0 },
        { model: 'own-painter', image_usd: '0.04' },
        { model: 'own-voice', character_usd_per_million: 15 },
      ],
    });
    expect(changed.body).toMatchObject({ header_names: [], models: ['own-small', 'own-painter', 'own-voice'] });
    const priced = (await listPrices(admin.database.db)).filter((one) => one.provider === name);
    const modes = Object.fromEntries(priced.map((one) => [one.model, one.mode]));
    expect(modes).toEqual({ 'own-small': 'chat', 'own-painter': 'image', 'own-voice': 'speech' });
    expect((await call('PATCH', `/providers/${name}`, { is_active: false })).body.is_configured).toBe(false);
    await call('PATCH', `/providers/${name}`, { is_active: true });
  });

  test('paths that pass-through may reach besides inference', async () => {
    const passthrough_paths = ['POST /v1/files', 'GET /v1/files/**'];
    const made = await admin.call('POST', '/providers', { body: { name: 'mistral', passthrough_paths } });
    expect(made.body.passthrough_paths).toEqual(passthrough_paths);
    const change = (paths: unknown) =>
      admin.call('PATCH', '/providers/mistral', { body: { passthrough_paths: paths } }).then(({ body }) => body);
    expect((await change(['DELETE /v1/models/*'])).passthrough_paths).toEqual(['DELETE /v1/models/*']);
    expect((await change(['v1/files'])).error.param).toBe('passthrough_paths.0');
    expect((await change(null)).passthrough_paths).toEqual([]);
    await admin.call('DELETE', '/providers/mistral');
  });

  test('deleted with its keys and prices', async () => {
    expect((await call('DELETE', `/providers/${name}`)).status).toBe(204);
    expect((await call('GET', `/providers/${name}`)).status).toBe(404);
    expect((await call('DELETE', `/providers/${name}`)).status).toBe(404);
    expect((await listPrices(admin.database.db)).filter((one) => one.provider === name)).toEqual([]);
  });

  test('targets in trouble are shown with their provider, and until when', async () => {
    admin.targets.push(
      { provider: 'groq', model: 'open', mode: 'open', openForMs: 30_000, coolForMs: 0 },
      { provider: 'groq', model: 'probed', mode: 'half_open', openForMs: 0, coolForMs: 0 },
      { provider: 'groq', model: 'busy', mode: 'closed', openForMs: 0, coolForMs: 5000 },
      { provider: 'groq', model: 'well', mode: 'closed', openForMs: 0, coolForMs: 0 },
      { provider: 'mistral', model: 'other', mode: 'open', openForMs: 1000, coolForMs: 0 },
    );
    const before = Date.now();
    const { targets } = (await call('GET', '/providers/groq')).body;
    expect(targets).toMatchObject([
      { model: 'open', state: 'open' },
      { model: 'probed', state: 'half_open', until: null },
      { model: 'busy', state: 'cooling_down' },
      { model: 'well', state: 'closed', until: null },
    ]);
    expect(Date.parse(targets[0].until) - before).toBeWithin(30_000, 35_000);
    expect(Date.parse(targets[2].until) - before).toBeWithin(5000, 10_000);
    admin.targets.length = 0;
  });

  test('no secret in any answer, in the audit, or readable in the database', async () => {
    const audit = await call('GET', '/audit?limit=1000');
    expect(audit.text).toContain('provider_key');
    const stored = await admin.database.client`
      select coalesce(string_agg(encode(encrypted_key, 'escape'), ''), '') as keys from provider_keys`;
    for (const text of [...said, JSON.stringify(stored)]) {
      for (const secret of [SECRET, HEADER_SECRET, ODD_SECRET, 'sk-of-the-project', 'gsk_0123'])
        expect(text).not.toContain(secret);
    }
  });
});

test('without a master key nothing is stored, and the answer says why', async () => {
  const [kind] = ON_ONE_DATABASE;
  if (kind === undefined) throw new Error('no database');
  const admin = await openAdmin(kind, { vault: closedVault });
  try {
    const answer = await admin.call('POST', '/providers/groq/keys', { body: { key: SECRET } });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict']);
    expect(answer.body.error.message).toContain('ENCRYPTION_KEY');
    expect((await admin.call('GET', '/providers/groq')).body.keys).toEqual([]);
  } finally {
    await admin.close();
  }
}, 60_000);
