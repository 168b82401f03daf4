import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ask, postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;

describe('an added server that lists names of a vendor', () => {
  let world: TestEnvironment;
  let server: FakeUpstream;
  let corpId: string;
  const keys: Record<'corp' | 'other', string> = { corp: '', other: '' };
  beforeAll(async () => {
    server = startFakeUpstream({ models: ['m1', 'gpt-4o-mini'] });
    const env = { FAILOVER_MODE: 'cloud_only' };
    world = await shareEnvironment({ kind: 'real', env });
    const project = { cache_enabled: false, monthly_cap_usd: 5 };
    const corp = await createTestKey(world.gateway, { project });
    keys.corp = corp.apiKey;
    corpId = corp.projectId;
    keys.other = (await createTestKey(world.gateway, { project })).apiKey;
    const call = (path: string, body: object) => callAdmin(world.gateway, path, { method: 'POST', body });
    await call('/providers', { name: 'house', base_url: server.baseUrl });
    await call('/providers', { name: 'of-corp', base_url: server.baseUrl });
    await call('/providers/of-corp/keys', { key: 'sk-real-corp', project_id: corp.projectId });
    // It is asked for its models at the start, and twice a minute.
    await world.restart('stop');
  }, SETUP_MS);
  afterAll(async () => {
    await world?.close();
    await server?.stop();
  }, SETUP_MS);

  async function models(of: keyof typeof keys): Promise<Record<string, string>> {
    const response = await fetch(`${world.gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${keys[of]}` },
    });
    const { data } = (await response.json()) as { data: { id: string; owned_by: string }[] };
    return Object.fromEntries(data.map(({ id, owned_by: owner }) => [id, owner]));
  }

  async function chat(of: keyof typeof keys, model: string) {
    const answer = await postChat(world.gateway, keys[of], ask('Hi', { model }));
    const { cost_usd: cost } = (await answer.json()) as { cost_usd?: number };
    return { status: answer.status, provider: answer.headers.get('x-provider'), isPaid: (cost ?? 0) > 0 };
  }

  test('takes none of them, under a cap or not, in any project', async () => {
    for (const endMs = performance.now() + 10_000; (await models('corp')).m1 === undefined; ) {
      if (performance.now() > endMs) throw new Error('the server was not asked for its models');
      await Bun.sleep(50);
    }
    for (const of of ['corp', 'other'] as const) {
      expect(await chat(of, 'gpt-4o-mini')).toEqual({ status: 200, provider: 'openai', isPaid: true });
      expect(await models(of)).toMatchObject({
        ...{ 'gpt-4o-mini': 'openai', m1: 'house', 'house/gpt-4o-mini': 'house' },
      });
    }
    expect(server.requests.filter(({ path }) => path.includes('chat'))).toEqual([]);
  });

  test('is there for the project that has its key alone, and gets that key', async () => {
    const named = async (of: keyof typeof keys) =>
      Object.keys(await models(of)).filter((id) => id.startsWith('of-corp/'));
    expect([await named('corp'), await named('other')]).toEqual([['of-corp/m1', 'of-corp/gpt-4o-mini'], []]);
    await callAdmin(world.gateway, '/models?provider=of-corp&model=m1', {
      method: 'PUT',
      body: { input_usd_per_million: 1, output_usd_per_million: 1 },
    });
    expect(await chat('corp', 'of-corp/m1')).toEqual({ status: 200, provider: 'of-corp', isPaid: true });
    expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer sk-real-corp');
    expect((await chat('other', 'of-corp/m1')).status).toBe(404);
    // Nor is it anybody's once the project is gone.
    await callAdmin(world.gateway, `/projects/${corpId}`, { method: 'DELETE' });
    expect((await chat('other', 'of-corp/m1')).status).toBe(404);
    expect(await named('other')).toEqual([]);
  });
});
