import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

const DIGEST = `00:${'a'.repeat(64)}`;

describe.each(ON_ONE_DATABASE)('applies on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  const begin = async (name: string): Promise<string> => {
    const { status, body } = await admin.call('POST', '/applies', { body: { apply_name: name } });
    if (status !== 201) throw new Error(`${status}`);
    return body.id;
  };
  const as = (leaseId: string, more = {}) => ({ headers: { 'x-llm0-apply': leaseId, ...more } });
  const end = (leaseId: string) => admin.call('DELETE', `/applies/${leaseId}`);
  const managed = async (name: string) =>
    (await admin.call('GET', `/managed-resources?apply_name=${name}`)).body.data as Record<string, unknown>[];
  const uniqueName = () => `apply-${crypto.randomUUID().slice(0, 8)}`;

  test('one runs at a time; its lease ends, or is ended', async () => {
    const leaseId = await begin('one');
    const refused = await admin.call('POST', '/applies', { body: { apply_name: 'two' } });
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      expect.stringContaining('"one" of ADMIN_TOKEN'),
    ]);
    expect((await admin.call('PUT', `/applies/${leaseId}`)).status).toBe(200);
    await admin.database.client`update apply_lease set expires_at = now() - interval '1 second'`;
    expect((await admin.call('PUT', `/applies/${leaseId}`)).status).toBe(404);
    const next = await begin('two');
    // A late end of the first one doesn't end the second.
    await end(leaseId);
    expect((await admin.call('PUT', `/applies/${next}`)).status).toBe(200);
    await end(next);
    await end(await begin('three'));
  });

  test('without its lease an apply changes nothing', async () => {
    const name = uniqueName();
    const leaseId = await begin(name);
    await end(leaseId);
    const refused = await admin.call('POST', '/projects', { body: { name }, ...as(leaseId) });
    expect([refused.status, refused.body.error.param]).toEqual([409, 'X-LLM0-Apply']);
    const { body } = await admin.call('GET', '/projects?limit=1000');
    expect(body.data.map((project: { name: string }) => project.name)).not.toContain(name);
  });

  test('notes creations and changes, with the digest of secrets until somebody else changes the resource', async () => {
    const name = uniqueName();
    const found = await admin.createProject({ name });
    const leaseId = await begin(name);
    const provider = { name, base_url: 'http://127.0.0.1:9/v1', headers: { 'X-Key': 'secret' } };
    await admin.call('POST', '/providers', { body: provider, ...as(leaseId, { 'x-llm0-secret-digest': DIGEST }) });
    await admin.call('PATCH', `/projects/${found.id}`, { body: { monthly_cap_usd: 1 }, ...as(leaseId) });
    const noted = (resource: string, id: string, more: object) => ({
      ...{ apply_name: name, resource, resource_id: id, secret_digest: null },
      ...more,
    });
    const project = noted('project', found.id, { is_created: false });
    expect(await managed(name)).toMatchObject([
      project,
      noted('provider', name, { is_created: true, secret_digest: DIGEST }),
    ]);
    await admin.call('PATCH', `/providers/${name}`, { body: { is_active: false }, ...as(leaseId) });
    expect((await managed(name))[1]).toMatchObject({ is_created: true, secret_digest: DIGEST });
    await end(leaseId);
    await admin.call('PATCH', `/providers/${name}`, { body: { is_active: true } });
    expect((await managed(name))[1]).toMatchObject({
      is_created: true,
      secret_digest: null,
      changed_by: 'ADMIN_TOKEN',
    });
    const { body } = await admin.call('GET', `/managed-resources?resource=provider&resource_id=${name}`);
    expect(body.data).toMatchObject([{ apply_name: name, changed_at: expect.any(String), changed_by: 'ADMIN_TOKEN' }]);
    const again = await begin(name);
    await admin.call('PATCH', `/providers/${name}`, { body: { is_active: false }, ...as(again) });
    await end(again);
    expect((await managed(name))[1]).toMatchObject({ changed_at: null, changed_by: null });
    expect((await admin.call('GET', `/managed-resources?resource_id=${name}`)).status).toBe(400);
    await admin.call('DELETE', `/providers/${name}`);
    expect(await managed(name)).toMatchObject([project]);
  });

  test('a new resource is its maker alone, and one that an apply deletes is nobody', async () => {
    const [name, other] = [uniqueName(), uniqueName()];
    const path = `/models?provider=openai&model=${name}`;
    const body = { input_usd_per_million: 1, output_usd_per_million: 2 };
    const first = await begin(name);
    await admin.call('PUT', path, { body, ...as(first) });
    await end(first);
    const second = await begin(other);
    await admin.call('PUT', path, { body: { ...body, input_usd_per_million: 3 }, ...as(second) });
    expect([await managed(name), await managed(other)]).toMatchObject([
      [{ is_created: true }],
      [{ is_created: false }],
    ]);
    await admin.call('DELETE', path, as(second));
    expect([await managed(name), await managed(other)]).toEqual([[], []]);
    await end(second);
  });

  test('lists page by page', async () => {
    const name = uniqueName();
    const leaseId = await begin(name);
    for (const project of ['a', 'b', 'c'])
      await admin.call('POST', '/projects', { body: { name: project }, ...as(leaseId) });
    await end(leaseId);
    const ids: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const at: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await admin.call('GET', `/managed-resources?apply_name=${name}&limit=2${at}`);
      ids.push(...body.data.map((one: { resource_id: string }) => one.resource_id));
      cursor = body.next_cursor;
    }
    expect(new Set(ids).size).toBe(3);
    const wrong = await admin.call('GET', `/managed-resources?apply_name=${name}&cursor=x`);
    expect(wrong.status).toBe(400);
  });

  test('lists what manages resources of a kind, page by page', async () => {
    const names = [uniqueName(), uniqueName()];
    const ids: string[] = [];
    for (const name of names) {
      const leaseId = await begin(name);
      const { id } = (await admin.call('POST', '/projects', { body: { name }, ...as(leaseId) })).body;
      for (const key of ['a', 'b']) {
        const made = await admin.call('POST', `/projects/${id}/keys`, { body: { name: key }, ...as(leaseId) });
        ids.push(made.body.id);
      }
      await end(leaseId);
    }
    const found: { resource_id: string; apply_name: string }[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const at: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await admin.call('GET', `/managed-resources?resource=key&limit=3${at}`);
      found.push(...body.data);
      cursor = body.next_cursor;
    }
    const own = found.filter((one) => names.includes(one.apply_name));
    expect(own.map((one) => one.resource_id)).toEqual(ids.toSorted());
  });

  test('refuses headers that are no lease and no digest', async () => {
    for (const headers of [as('x').headers, as(crypto.randomUUID(), { 'x-llm0-secret-digest': 'x' }).headers]) {
      expect((await admin.call('POST', '/projects', { body: { name: 'x' }, headers })).status).toBe(400);
    }
  });
});
