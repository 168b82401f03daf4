import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createTestKey, type GatewayProcess, startGateway } from '../stores/start-gateway';
import { ask, postChat, waitUntil } from './environment';

/** The vendor takes one key at a time; the secret manager has another one, or is away. */
const state = { valid: 'sk-1', kept: 'sk-1' as string | undefined, reads: 0 };
const vendor = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => {
    if (request.headers.get('authorization') !== `Bearer ${state.valid}`) {
      return Response.json({ error: { message: 'Incorrect API key', type: 'invalid_request_error' } }, { status: 401 });
    }
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }];
    return Response.json({ id: 'x', object: 'chat.completion', created: 1, model: 'gpt-4o-mini', choices, usage });
  },
});
const vault = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => {
    state.reads += 1;
    const isKnown = request.headers.get('x-vault-token') === 'root' && state.kept !== undefined;
    if (!isKnown) return Response.json({ errors: ['Vault is sealed'] }, { status: 503 });
    return Response.json({ data: { data: { key: state.kept }, metadata: {} } });
  },
});
let gateway: GatewayProcess;
let apiKey: string;
let serial = 0;

beforeAll(async () => {
  gateway = await startGateway({
    env: {
      ...{ OPENAI_API_KEY: 'vault:secret/data/openai#key', OPENAI_BASE_URL: `http://127.0.0.1:${vendor.port}/v1` },
      ...{ VAULT_ADDR: `http://127.0.0.1:${vault.port}`, VAULT_TOKEN: 'root', FAILOVER_MODE: 'off' },
    },
  });
  ({ apiKey } = await createTestKey(gateway));
}, 60_000);
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([vendor.stop(true), vault.stop(true)]);
});

const post = async () => {
  const response = await postChat(gateway, apiKey, ask(`question ${serial++}`, { model: 'gpt-4o-mini' }));
  return { status: response.status, text: await response.text() };
};

test('a provider key rotates under load without a failed request; without any valid key the error is clear', async () => {
  let isLoaded = true;
  const statuses: number[] = [];
  const load = Array.from({ length: 8 }, async () => {
    while (isLoaded) statuses.push((await post()).status);
  });
  const more = (count: number) => {
    const wanted = statuses.length + count;
    return waitUntil(() => statuses.length >= wanted);
  };
  try {
    await more(20);
    for (const key of ['sk-2', 'sk-3']) {
      state.kept = key;
      state.valid = key;
      await more(40);
    }
    // The manager is away; the last key works.
    state.kept = undefined;
    await more(40);
  } finally {
    isLoaded = false;
    await Promise.all(load);
  }
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  state.valid = 'sk-4';
  const refused = await post();
  expect([refused.status >= 500, refused.text.includes('sk-')]).toEqual([true, false]);
  expect(refused.text).toContain('openai');
  state.kept = 'sk-4';
  for (let i = 0; i < 200 && (await post()).status !== 200; i++) await Bun.sleep(50);
  expect((await post()).status).toBe(200);
  expect(gateway.output()).toContain('a secret cannot be read: the last known one stays in use');
  expect(gateway.output()).not.toMatch(/sk-\d/);
});
