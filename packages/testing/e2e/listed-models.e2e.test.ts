import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createTestKey } from '../stores/start-gateway';
import { ask, postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const NOWHERE = 'http://nowhere.invalid/v1';

describe('models as they are listed, and vendors whose address leads nowhere', () => {
  let world: TestEnvironment;
  let apiKey: string;
  beforeAll(async () => {
    world = await shareEnvironment({
      kind: 'real',
      env: ({ baseUrl }) => ({
        ...{ GROQ_API_KEY: 'groq-fake-key', GROQ_BASE_URL: baseUrl, TOGETHER_API_KEY: 'k', TOGETHER_BASE_URL: baseUrl },
        ...{ XAI_API_KEY: 'xai-fake-key', XAI_BASE_URL: NOWHERE },
      }),
    });
    ({ apiKey } = await createTestKey(world.gateway, { project: { cache_enabled: false } }));
  }, SETUP_MS);
  afterAll(() => world?.close(), SETUP_MS);

  test('an id that is sent back is answered by its owner, and has a day', async () => {
    const response = await fetch(`${world.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });
    const { data } = (await response.json()) as { data: { id: string; owned_by: string; created: number }[] };
    expect(data.filter(({ created }) => !(created > 1_500_000_000))).toEqual([]);
    const chat = data.filter(
      ({ id, owned_by: owner }) => /groq|together|openai/.test(owner) && /llama|gpt-(?:4|oss)/.test(id),
    );
    expect(chat.map(({ id }) => id)).toContain('groq/openai/gpt-oss-20b');
    for (const { id, owned_by: owner } of chat.filter(
      ({ id }) => !/audio|search|realtime|transcribe|tts|image|embed/.test(id),
    )) {
      const answer = await postChat(world.gateway, apiKey, ask('x', { model: id }));
      await answer.text();
      expect([id, answer.status, answer.headers.get('x-provider')]).toEqual([id, 200, owner]);
    }
  });

  test('a vendor whose address cannot be resolved is away, and named', async () => {
    const answer = await postChat(world.gateway, apiKey, ask('x', { model: 'xai/unheard-of' }));
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    expect([answer.status, error.code]).toEqual([503, 'upstream_unavailable']);
    expect(error.message).toContain('xai');
  });

  test('an operator who adds one is told so, and not that the database is away', async () => {
    const { url, adminToken } = world.gateway;
    const answer = await fetch(`${url}/admin/v1/providers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'lost', base_url: NOWHERE }),
    });
    const { error } = (await answer.json()) as { error: { code: string; message: string; param: string } };
    expect([answer.status, error.code, error.param]).toEqual([503, 'upstream_unavailable', 'base_url']);
    expect(error.message).toContain('"lost"');
    expect(error.message).not.toContain('database');
  });
});
