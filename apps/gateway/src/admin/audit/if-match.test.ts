import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, type Answer, openAdmin } from '../admin.fixture';

describe.each(ON_ONE_DATABASE)('changes of what was read, on $name', (kind) => {
  let admin: AdminUnderTest;
  let projectId: string;
  beforeAll(async () => {
    admin = await openAdmin(kind);
    projectId = (await admin.createProject({ name: 'shared', monthly_cap_usd: '0.000000001' })).id;
  }, 60_000);
  afterAll(() => admin.close());

  const tagOf = (answer: Answer) => answer.headers.get('etag') ?? '';
  const change = (path: string, body: object, ifMatch: string, method = 'PATCH') =>
    admin.call(method, path, { body, headers: { 'if-match': ifMatch } });

  /** Something of each kind, and a change of it. */
  const things = async () => {
    const make = async (path: string, body: object, method = 'POST') => {
      const answer = await admin.call(method, path, { body });
      expect([path, answer.status]).toEqual([path, method === 'PUT' ? 200 : 201]);
      return answer.body;
    };
    const target = { provider: 'openai', model: 'gpt-4o' };
    const key = await make(`/projects/${projectId}/keys`, { name: 'k' });
    const alias = await make('/aliases', { alias: `a-${crypto.randomUUID()}`, targets: [target] });
    const alert = await make('/alerts', { name: 'a', kind: 'spend', webhook_url: 'https://example.com/hook' });
    const providerKey = await make('/providers/openai/keys', { key: 'sk-0123456789' });
    const limits = `/projects/${projectId}/customers/ann/limits`;
    await make(limits, { daily_spend_limit_usd: 1 }, 'PUT');
    await make('/chains/mine', { targets: [target] }, 'PUT');
    await admin.call('POST', '/providers', { body: { name: 'openai', is_active: true } });
    return [
      [`/projects/${projectId}`, 'PATCH', { name: 'other' }],
      [`/projects/${projectId}/keys/${key.id}`, 'PATCH', { name: 'other' }],
      [`/aliases/${alias.id}`, 'PATCH', { strategy: 'weighted' }],
      [`/alerts/${alert.id}`, 'PATCH', { threshold: 2 }],
      [`/providers/openai/keys/${providerKey.id}`, 'PATCH', { name: 'other' }],
      ['/providers/openai', 'PATCH', { is_active: false }],
      [limits, 'PUT', { daily_spend_limit_usd: 2 }],
      ['/chains/mine', 'PUT', { targets: [{ ...target, model: 'gpt-4o-mini' }] }],
    ] as const;
  };

  test('every thing has a tag, and is not changed by who has read another', async () => {
    for (const [path, method, body] of await things()) {
      const read = await admin.call('GET', path);
      const stale = tagOf(read);
      expect([path, stale]).toEqual([path, expect.stringMatching(/^"[0-9a-f]{24}"$/)]);
      const first = await change(path, body, stale, method);
      expect([path, first.status]).toEqual([path, 200]);
      const now = await admin.call('GET', path);
      expect([path, tagOf(first)]).toEqual([path, tagOf(now)]);
      expect([path, tagOf(now) === stale]).toEqual([path, false]);
      const second = await change(path, body, stale, method);
      expect([path, second.status, second.body.error.param]).toEqual([path, 412, 'If-Match']);
      expect(second.body.current).toEqual(now.body);
      expect(tagOf(second)).toBe(tagOf(now));
      const removed = await change(path, {}, stale, 'DELETE');
      expect([path, removed.status]).toEqual([path, 412]);
      expect((await admin.call('GET', path)).body).toEqual(now.body);
    }
  });

  test('a model has one, too, and changes of its price say what they are changes of', async () => {
    const at = '/models?provider=openai&model=ft%2Fa%20b';
    const path = '/models/openai/ft%2Fa%20b';
    expect((await admin.call('GET', path)).status).toBe(404);
    expect((await change(path, { input_usd_per_million: 1 }, '*')).status).toBe(404);
    const prices = { input_usd_per_million: 1, output_usd_per_million: 2, input_flex_usd_per_million: 0.5 };
    const made = await admin.call('PUT', at, { body: { ...prices, context_window: 1000 } });
    const read = await admin.call('GET', path);
    expect([read.body, tagOf(read)]).toEqual([made.body, tagOf(made)]);
    const first = await change(path, { output_usd_per_million: 3, context_window: null }, tagOf(read));
    expect(first.body).toMatchObject({ input_usd_per_million: '1', output_usd_per_million: '3', context_window: null });
    expect(first.body.input_flex_usd_per_million).toBe('0.5');
    const second = await change(path, { output_usd_per_million: 4 }, tagOf(read));
    expect([second.status, second.body.current]).toEqual([412, first.body]);
    expect((await change(at, prices, tagOf(read), 'PUT')).status).toBe(412);
    expect((await change(path, { output_usd_per_million: null }, tagOf(first))).status).toBe(400);
    expect((await change(path, { cache_read_usd_per_million: 1 }, tagOf(first))).status).toBe(200);
  });

  test('a weak tag, one of several and any will do; without one the last word counts', async () => {
    const path = `/projects/${projectId}`;
    const tag = tagOf(await admin.call('GET', path));
    expect((await change(path, { monthly_cap_usd: 1 }, `"x", W/${tag}`)).status).toBe(200);
    expect((await change(path, { monthly_cap_usd: 2 }, '*')).status).toBe(200);
    expect((await admin.call('PATCH', path, { body: { monthly_cap_usd: 3 } })).status).toBe(200);
    expect((await change('/chains/nobody', { targets: [] }, '*', 'PUT')).status).toBeOneOf([400, 412]);
  });

  test('one of two simultaneous requests is refused', async () => {
    const path = `/projects/${projectId}`;
    const tag = tagOf(await admin.call('GET', path));
    const both = await Promise.all(
      ['one', 'two'].map((name) => change(path, { name: `${name} ${crypto.randomUUID()}` }, tag)),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  test('the OpenAPI document tells of it', async () => {
    const { body } = await admin.call('GET', '/openapi.json');
    const { patch } = body.paths['/projects/{id}'];
    expect(patch.parameters.map(({ name }: { name: string }) => name)).toContain('If-Match');
    expect(Object.keys(patch.responses)).toContain('412');
  });

  test('the OpenAPI document says that an entry of the audit may have nothing before or after', async () => {
    const { body } = await admin.call('GET', '/openapi.json');
    const { before, after } = body.components.schemas.AuditEntry.properties;
    expect([before.type, after.type]).toEqual([
      ['object', 'null'],
      ['object', 'null'],
    ]);
    await admin.createProject({ name: 'audited' });
    const { body: audit } = await admin.call('GET', '/audit?resource=project&limit=1');
    expect(audit.data).toMatchObject([{ before: null, after: { name: 'audited' } }]);
  });
});
