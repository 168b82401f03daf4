import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ImportClient } from './apply-step';
import { type ImportUnderTest, openImport, type Step } from './import.fixture';
import { placePlan } from './place-plan';
import { planImport } from './plan-import';

const HOST = 'http://127.0.0.1:18220';

interface Given {
  readonly name?: string;
  readonly path?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly model?: string;
}

const fileOf = (...given: readonly Given[]) =>
  JSON.stringify({
    model_list: given.map(({ name = 'm', path = '/v1', key, headers, model = 'openai/m1' }) => ({
      model_name: name,
      litellm_params: {
        ...{ model, api_base: path.startsWith('http') ? path : `${HOST}${path}`, api_key: key ?? 'none' },
        ...(headers === undefined ? {} : { extra_headers: headers }),
        ...{ input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 },
      },
    })),
  });

describe('servers of a file', () => {
  let made: ImportUnderTest;
  beforeAll(async () => {
    made = await openImport();
  }, 60_000);
  afterAll(() => made.close());

  const into = (project: string, ...given: readonly Given[]) => made.steps(fileOf(...given), ['--project', project]);
  const changed = (steps: readonly Step[]) =>
    steps.filter(({ outcome }) => !['unchanged', 'missing'].includes(outcome)).map(({ what }) => what);
  const provider = async (name: string) =>
    (await made.read('/providers')).data.find((one) => String(one.name) === name);
  const post = (path: string, body: object) => made.call(path, { method: 'POST', body: JSON.stringify(body) });

  /** Where an alias of a project leads to, by addresses, with the keys that go there of that project. */
  async function reached(project: string, alias = 'm') {
    const { id } = (await made.read('/projects')).data.find((one) => String(one.name) === project) ?? {};
    const [found] = (await made.read(`/aliases?project_id=${id}&alias=${alias}`)).data;
    const targets = (found?.targets ?? []) as { provider: string }[];
    return Promise.all(
      targets.map(async (target) => {
        const one = await provider(target.provider);
        const keys = (one?.keys ?? []) as { project_id: string; last_characters: string }[];
        const own = keys.filter((key) => key.project_id === id).map((key) => key.last_characters);
        return [String(one?.base_url).replace(HOST, ''), ...own, ...((one?.header_names ?? []) as string[])].join(' ');
      }),
    );
  }

  test('a second file with another path on the host moves nobody, and brings no headers to others', async () => {
    await into('first', { path: '/vllm/v1' });
    const before = (await made.read('/providers')).data;
    const steps = await into('second', { path: '/openai/v1', headers: { 'X-A': 'b' } });
    expect(steps.filter(({ outcome }) => outcome === 'updated')).toEqual([]);
    expect((await made.read('/providers')).data).toEqual(expect.arrayContaining(before));
    expect([await reached('first'), await reached('second')]).toEqual([['/vllm/v1'], ['/openai/v1 X-A']]);
  });

  test('a file without its first deployment leads every name, with its key, to where it led before', async () => {
    const [a, b] = [
      { name: 'a', path: '/a/v1', key: 'sk-real-key-of-a-team-aaaa' },
      { name: 'b', path: '/b/v1', key: 'sk-real-key-of-a-team-bbbb' },
    ];
    await into('edited', a, b);
    expect(changed(await into('edited', b))).toEqual(['client key']);
    expect([await reached('edited', 'a'), await reached('edited', 'b')]).toEqual([['/a/v1 aaaa'], ['/b/v1 bbbb']]);
    expect(changed(await into('edited', b, a))).toEqual(['client key']);
    expect(changed(await into('edited', b, a))).toEqual([]);
  });

  test('headers of other values are another server; the same ones are the same', async () => {
    const of = (tenant: string) => ({ path: '/tenants/v1', headers: { 'X-Tenant': tenant } });
    await into('tenant a', of('a'));
    await into('tenant b', of('b'));
    expect(changed(await into('tenant a', of('a')))).toEqual([]);
    const named = (await made.read('/providers')).data.filter((one) => String(one.base_url).includes('/tenants'));
    expect(named).toHaveLength(2);
  });

  test('headers that changed are another server, for the same key too, and it has the prices of that address', async () => {
    const of = (tenant: string) => {
      const [model_list] = Object.values(
        JSON.parse(
          fileOf({ path: '/edited-tenants/v1', key: 'sk-real-key-of-a-team-tttt', headers: { 'X-Tenant': tenant } }),
        ),
      ) as [{ litellm_params: Record<string, unknown> }[]];
      for (const { litellm_params: params } of model_list) {
        delete params.input_cost_per_token;
        delete params.output_cost_per_token;
      }
      return made.steps(JSON.stringify({ model_list }), ['--project', 'edited tenants']);
    };
    const [first] = (await of('a')).filter(({ what }) => what === 'provider');
    const price = { input_usd_per_million: 3, output_usd_per_million: 4 };
    await made.call(`/models?provider=${first?.name}&model=m1`, { method: 'PUT', body: JSON.stringify(price) });
    const steps = await of('b');
    expect(steps.filter(({ what }) => what === 'provider' || what === 'price')).toMatchObject([
      { what: 'provider', outcome: 'created' },
      { what: 'price', outcome: 'created', detail: expect.stringContaining(`that of ${first?.name}/m1: input 3`) },
    ]);
    expect(changed(await of('b'))).toEqual([]);
  });

  describe('of an import by positions, in its earlier form', () => {
    beforeAll(async () => {
      const { id } = (await (await post('/projects', { name: 'old' })).json()) as { id: string };
      for (const [name, path, key] of [
        ['server-127-0-0-1-18220', '/old-a/v1', 'sk-real-key-of-a-team-aaaa'],
        ['server-127-0-0-1-18220-2', '/old-b/v1', 'sk-real-key-of-a-team-bbbb'],
      ] as const) {
        await post('/providers', { name, base_url: `${HOST}${path}` });
        await post(`/providers/${name}/keys`, { key, name: `litellm ${path[5]}`, project_id: id });
        const targets = [{ provider: name, model: 'm1', weight: 1 }];
        await post('/aliases', { alias: path[5], project_id: id, targets, strategy: 'priority' });
        const price = { input_usd_per_million: 1, output_usd_per_million: 1 };
        await made.call(`/models?provider=${name}&model=m1`, { method: 'PUT', body: JSON.stringify(price) });
      }
    });

    test('servers are known by their addresses, and nothing changes', async () => {
      const [a, b] = [
        { name: 'a', path: '/old-a/v1', key: 'sk-real-key-of-a-team-aaaa' },
        { name: 'b', path: '/old-b/v1', key: 'sk-real-key-of-a-team-bbbb' },
      ];
      expect(changed(await into('old', a, b))).toEqual(['client key']);
      expect(changed(await into('old', b))).toEqual(['client key']);
      expect([await reached('old', 'a'), await reached('old', 'b')]).toEqual([['/old-a/v1 aaaa'], ['/old-b/v1 bbbb']]);
    });
  });

  test('a key of one project does not close a server that others use without one, nor is one without key let in', async () => {
    await into('open', { path: '/shared/v1' });
    await into('closed', { path: '/shared/v1', key: 'sk-real-key-of-a-team-cccc' });
    await into('open too', { path: '/shared/v1' });
    await into('closed too', { path: '/shared/v1', key: 'sk-real-key-of-a-team-dddd' });
    const named = (await made.read('/providers')).data.filter((one) => String(one.base_url).includes('/shared'));
    expect(named.map((one) => (one.keys as unknown as unknown[]).length).sort()).toEqual([0, 2]);
    expect(await Promise.all(['open', 'closed', 'open too', 'closed too'].map((one) => reached(one)))).toEqual([
      ...[['/shared/v1'], ['/shared/v1 cccc'], ['/shared/v1'], ['/shared/v1 dddd']],
    ]);
  });

  test('for every project, a server that single projects have keys for is another one, unless the file has a key', async () => {
    const forAll = (given: Given) => made.steps(fileOf(given), ['--project', 'all of us', '--all-projects']);
    await into('single', { path: '/single/v1', key: 'sk-real-key-of-a-team-ssss' });
    const servers = async () =>
      (await made.read('/providers')).data.filter((one) => String(one.base_url).endsWith('/single/v1')).length;
    await forAll({ name: 'keyless', path: '/single/v1' });
    expect(await servers()).toBe(2);
    await forAll({ name: 'keyed', path: '/single/v1', key: 'sk-real-key-of-a-team-aaaa' });
    expect(await servers()).toBe(2);
  });

  test('a server of this import alone gets the key that the file has now', async () => {
    await into('later', { path: '/later/v1' });
    expect(changed(await into('later', { path: '/later/v1', key: 'sk-real-key-of-a-team-eeee' }))).toEqual([
      'vendor key',
    ]);
    expect(await reached('later')).toEqual(['/later/v1 eeee']);
  });

  test('a key that is not in the file any more is told, and the others keep theirs', async () => {
    const keys = ['sk-real-key-of-a-team-1111', 'sk-real-key-of-a-team-2222'].map((key) => ({ path: '/keys/v1', key }));
    await into('keys', ...keys);
    expect(await reached('keys')).toEqual(['/keys/v1 1111 2222']);
    expect(changed(await into('keys', ...keys))).toEqual([]);
    const steps = await into('keys', ...keys.slice(1));
    expect(changed(steps)).toEqual([]);
    expect(steps.find(({ detail }) => detail.includes('remove-key'))?.detail).toStartWith('litellm m #');
    expect(await reached('keys')).toEqual(['/keys/v1 1111 2222']);
  });

  describe('vendors that are set up', () => {
    const forget = async () => {
      for (const name of ['azure', 'anthropic', 'bedrock']) await made.call(`/providers/${name}`, { method: 'DELETE' });
    };
    beforeAll(async () => {
      await forget();
      await post('/providers', { name: 'azure', base_url: `${HOST}/azure-a`, key: 'azure-key-of-all' });
    });
    afterAll(forget);

    test('stay where they are; another resource is a server', async () => {
      const azure = (path: string, key: string) => ({ model: 'azure/gpt', path, key });
      await into('azure', azure('/azure-b', 'azure-key-of-a-team-bbbb'));
      expect((await provider('azure'))?.base_url).toBe(`${HOST}/azure-a` as never);
      expect(await reached('azure')).toEqual(['/azure-b/openai/v1 bbbb']);
      await into('azure same', azure('/azure-a', 'azure-key-of-a-team-aaaa'));
      expect(await reached('azure same')).toEqual(['/azure-a aaaa']);
      expect(changed(await into('azure', azure('/azure-b', 'azure-key-of-a-team-bbbb')))).toEqual([]);
    });

    test('an impossible address is refused, and no key goes there', async () => {
      await post('/providers', { name: 'anthropic', base_url: `${HOST}/claude`, key: 'claude-key-of-all' });
      const claude = { model: 'anthropic/claude-x', path: '/other-claude', key: 'claude-key-of-a-team-oooo' };
      const steps = await into('claude', claude);
      expect(steps.filter(({ outcome }) => outcome === 'failed').map(({ what }) => what)).toEqual([
        'provider',
        'alias',
      ]);
      expect((await provider('anthropic'))?.keys).toHaveLength(1);
    });

    test("Bedrock's region is that of who set it up; the file's stands before its models", async () => {
      await post('/providers', { name: 'bedrock', options: { region: 'us-east-1' }, key: 'AKIA:secret' });
      const model_list = ['eu-central-1', 'us-east-1'].map((aws_region_name) => ({
        model_name: aws_region_name,
        litellm_params: { model: 'bedrock/anthropic.claude-x', aws_region_name, api_key: 'bedrock-key-of-a-team-bbbb' },
      }));
      const text = JSON.stringify({ model_list });
      const told = await made.steps(text, ['--project', 'bedrock']);
      expect(told.filter(({ what }) => what === 'alias').map(({ detail }) => detail)).toEqual([
        'bedrock/eu-central-1/anthropic.claude-x (priority)',
        'bedrock/us-east-1/anthropic.claude-x (priority)',
      ]);
      expect((await provider('bedrock'))?.options).toEqual({ region: 'us-east-1' } as never);
    });
  });
});

test("models of a vendor that is at another address here have the vendor's price, and the name that the file gives them", async () => {
  const model_list = ['gpt-x', 'openai/gpt-x'].map((model_name) => ({
    model_name,
    litellm_params: { model: 'openai/gpt-x', api_base: 'https://eu.api.openai.com/v1', api_key: 'sk-eu' },
  }));
  const plan = planImport(JSON.stringify({ model_list }), {});
  const openai = { name: 'openai', kind: 'openai', is_configured: true, base_url: 'https://api.openai.com/v1' };
  const place = (...providers: JsonObject[]) => {
    const get = async (path: string) => ({ text: '', body: { data: path === '/providers' ? providers : [] } });
    return placePlan(plan, { api: { get } as unknown as ImportClient, scope: 'p' });
  };
  const moved = await place(openai);
  expect(moved.providers).toMatchObject([{ name: 'eu-api-openai-com', isVendor: false }]);
  const base = { provider: 'openai', model: 'gpt-x' };
  expect(moved.unpriced).toEqual([{ provider: 'eu-api-openai-com', model: 'gpt-x', base }]);
  expect(moved.aliases.map(({ alias }) => alias)).toEqual(['gpt-x', 'openai/gpt-x']);
  const fresh = await place({ ...openai, is_configured: false });
  expect([fresh.unpriced, fresh.aliases.map(({ alias }) => alias)]).toEqual([[], ['gpt-x']]);
});
