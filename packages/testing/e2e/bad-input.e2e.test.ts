import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { allLogs, ask, postChat, settledLedger, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;

describe('bad input', () => {
  let world: TestEnvironment;
  let key: { apiKey: string; projectId: string };
  beforeAll(async () => {
    world = await shareEnvironment({ kind: 'real' });
    key = await createTestKey(world.gateway);
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);
  const invalid: readonly [string, string | Uint8Array | object, number, string][] = [
    ['nothing', '', 400, 'invalid_json'],
    ['not JSON', 'hello', 400, 'invalid_json'],
    ['half a JSON', '{"model":"gpt-4o-mini","messages":[', 400, 'invalid_json'],
    ['an array', '[]', 400, 'invalid_request'],
    ['null', 'null', 400, 'invalid_request'],
    ['a string', '"x"', 400, 'invalid_request'],
    ['odd bytes', new Uint8Array([0xff, 0xfe, 0x00, 0x80, 0xc3]), 400, 'invalid_json'],
    ['no model', { messages: [{ role: 'user', content: 'x' }] }, 400, 'invalid_request'],
    ['a numeric model', { model: 5, messages: [{ role: 'user', content: 'x' }] }, 400, 'invalid_request'],
    ['an empty model', { model: '', messages: [{ role: 'user', content: 'x' }] }, 400, 'invalid_request'],
    ['no messages', { model: 'gpt-4o-mini' }, 400, 'invalid_request'],
    ['empty messages', { model: 'gpt-4o-mini', messages: [] }, 400, 'invalid_request'],
    ['messages of text', { model: 'gpt-4o-mini', messages: 'hi' }, 400, 'invalid_request'],
    ['a message of text', { model: 'gpt-4o-mini', messages: ['hi'] }, 400, 'invalid_request'],
    ['an unknown role', { model: 'gpt-4o-mini', messages: [{ role: 'wizard', content: 'x' }] }, 400, 'invalid_request'],
    ['numeric content', { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 5 }] }, 400, 'invalid_request'],
    ['negative max_tokens', ask('x', { max_tokens: -1 }), 400, 'invalid_request'],
    ['fractional max_tokens', ask('x', { max_tokens: 1.5 }), 400, 'invalid_request'],
    ['max_tokens of text', ask('x', { max_tokens: 'many' }), 400, 'invalid_request'],
    ['huge max_tokens', ask('x', { max_tokens: 1e300 }), 400, 'invalid_request'],
    ['a hot temperature', ask('x', { temperature: 9 }), 400, 'invalid_request'],
    ['n of zero', ask('x', { n: 0 }), 400, 'invalid_request'],
    ['stream of text', ask('x', { stream: 'yes' }), 400, 'invalid_request'],
    ['tools of text', ask('x', { tools: 'all' }), 400, 'invalid_request'],
    ['an unknown model', ask('x', { model: 'no-such-model' }), 404, 'model_not_found'],
    ['a model name of 100,000 characters', ask('x', { model: 'm'.repeat(100_000) }), 404, 'model_not_found'],
    ['arrays nested 100,000 deep', `{"model":"gpt-4o-mini","messages":${nested(100_000, '[', ']')}}`, 400, ''],
    [
      'objects nested 100,000 deep',
      `{"model":"gpt-4o-mini","messages":[{"role":"user","content":"x"}],"metadata":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
      400,
      '',
    ],
    ['30 MB', JSON.stringify(ask('x'.repeat(30_000_000))), 413, 'request_too_large'],
  ];

  test.each(invalid)(
    '%s is refused in the envelope',
    async (_name, body, status, code) => {
      const answer = await postChat(world.gateway, key.apiKey, body);
      const text = await answer.text();
      expect([answer.status, text.slice(0, 300)]).toEqual([status, text.slice(0, 300)]);
      const { error } = JSON.parse(text) as { error: { message: string; code: string; type: string } };
      if (code !== '') expect(error.code).toBe(code);
      expect(error.message.length).toBeGreaterThan(10);
      expect(error.message.length).toBeLessThan(600);
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
    20_000,
  );

  test.each<[string, Record<string, string>, number, string]>([
    ['no key', {}, 401, 'missing_api_key'],
    ['a basic one', { authorization: 'Basic eDp5' }, 401, 'missing_api_key'],
    ['an odd one', { authorization: 'Bearer hello' }, 401, 'invalid_api_key'],
    ['an unknown one', { authorization: `Bearer llm0_live_${'0'.repeat(64)}` }, 401, 'invalid_api_key'],
  ])('%s: 401', async (_name, headers, status, code) => {
    const answer = await fetch(`${world.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify(ask('x')),
    });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ error: { code } });
  });

  test('unknown paths and wrong methods answer in the envelope', async () => {
    const missing = await fetch(`${world.gateway.url}/v1/nothing`);
    expect([missing.status, await missing.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
    const wrong = await fetch(`${world.gateway.url}/v1/chat/completions`);
    expect([wrong.status, await wrong.json()]).toMatchObject([405, { error: { code: 'method_not_allowed' } }]);
    expect(wrong.headers.get('allow')).toBe('POST');
  });

  test('key and model rules: expired, not allowed, inactive project', async () => {
    const expired = await createTestKey(world.gateway, {
      key: { expires_at: new Date(Date.now() - 1000).toISOString() },
    });
    expect(await (await postChat(world.gateway, expired.apiKey, ask('x'))).json()).toMatchObject({
      error: { code: 'key_expired' },
    });
    const narrow = await createTestKey(world.gateway, { key: { allowed_models: ['gpt-4o'] } });
    const refused = await postChat(world.gateway, narrow.apiKey, ask('x'));
    expect([refused.status, await refused.json()]).toMatchObject([403, { error: { code: 'model_not_allowed' } }]);
    const idle = await createTestKey(world.gateway);
    await callAdmin(world.gateway, `/projects/${idle.projectId}`, { method: 'PATCH', body: { is_active: false } });
    expect(await (await postChat(world.gateway, idle.apiKey, ask('x'))).json()).toMatchObject({
      error: { code: 'project_inactive' },
    });
  });

  test('a spent rate limit is 429 with a true Retry-After, and the row says so', async () => {
    const tight = await createTestKey(world.gateway, { key: { rate_limit_per_minute: 2 } });
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await postChat(world.gateway, tight.apiKey, ask(`limited ${i}`)));
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 429]);
    expect(answers[0]?.headers.get('x-ratelimit-limit')).toBe('2');
    expect(answers[0]?.headers.get('x-ratelimit-remaining')).toBe('1');
    const retryAfter = Number(answers[2]?.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(25);
    expect(retryAfter).toBeLessThanOrEqual(30);
    await settledLedger(world.gateway);
    const rows = await allLogs(world.gateway, `project_id=${tight.projectId}`);
    expect(rows.map((row) => row.status).sort()).toEqual(['rate_limited', 'success', 'success']);
  });

  test('nothing of all that was charged, and every refusal of a known key has its row', async () => {
    const ledger = await settledLedger(world.gateway);
    expect(ledger.ok).toBe(true);
    const rows = await allLogs(world.gateway, `project_id=${key.projectId}`);
    expect(rows).toHaveLength(invalid.length);
    expect(rows.every((row) => row.status === 'error' && row.cost_usd === 0)).toBe(true);
  });
});
