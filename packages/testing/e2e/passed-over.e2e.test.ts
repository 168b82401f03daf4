import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ask, logRow, ON_ONE_KIND, postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
/** About 200,000 tokens: more than gpt-4o-mini takes, less than Gemini does. */
const LONG = 'word '.repeat(150_000);

describe.each(ON_ONE_KIND)('no target is passed over silently, on %s stores', (kind) => {
  let world: TestEnvironment;
  let apiKey: string;
  beforeAll(async () => {
    world = await shareEnvironment({ kind });
    ({ apiKey } = await createTestKey(world.gateway));
  }, SETUP_MS);
  afterAll(() => world?.close(), SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  const send = (body: unknown, headers: Record<string, string> = {}) =>
    postChat(world.gateway, apiKey, body, { headers });
  const errorOf = async (response: Response) => {
    const { error } = (await response.json()) as { error: { code: string; message: string; param: string } };
    return { status: response.status, ...error };
  };

  test.each([false, true])(
    'a prompt too long for the model goes to a larger one, and says so (stream %p)',
    async (stream) => {
      const response = await send(ask(`${LONG}${stream}`, { stream }));
      await response.text();
      expect([
        response.status,
        response.headers.get('x-failover'),
        response.headers.get('x-original-provider'),
      ]).toEqual([200, 'true', 'openai']);
      expect(response.headers.get('x-provider')).not.toBe('openai');
      const row = (await logRow(world.gateway, response.headers.get('x-request-id') ?? '')) as unknown as {
        provider: string;
        final_provider: string;
        failover_count: number;
        failover_occurred: boolean;
        attempts: { provider: string; model: string; outcome: string }[];
      };
      expect(row).toMatchObject({ provider: 'openai', failover_occurred: true });
      expect(row.final_provider).toBe(response.headers.get('x-provider') ?? '');
      expect(row.failover_count).toBeGreaterThan(0);
      expect(row.attempts[0]).toMatchObject({ provider: 'openai', model: 'gpt-4o-mini', outcome: 'context_window' });
      expect(row.attempts.at(-1)).toMatchObject({ outcome: 'ok' });
    },
  );

  test('a limit beyond what the model writes is refused with its own figure', async () => {
    for (const param of ['max_tokens', 'max_completion_tokens']) {
      const error = await errorOf(await send(ask('x', { model: 'gpt-4o', [param]: 999_999 })));
      expect(error).toMatchObject({ status: 400, code: 'invalid_request', param });
      expect(error.message).toContain('"gpt-4o" writes at most 16384 tokens');
    }
    const response = await fetch(`${world.gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', input: 'x', max_output_tokens: 999_999 }),
    });
    expect(await errorOf(response)).toMatchObject({ status: 400, param: 'max_output_tokens' });
    expect(world.upstream.control.counters.received).toBe(0);
  });

  test('a format that demands a limit has it brought down to the model’s own', async () => {
    const response = await fetch(`${world.gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', max_tokens: 999_999, messages: [{ role: 'user', content: 'x' }] }),
    });
    expect([response.status, response.headers.get('x-provider'), response.headers.get('x-failover')]).toEqual([
      200,
      'openai',
      null,
    ]);
    expect(world.upstream.requests.at(-1)?.body).toMatchObject({ model: 'gpt-4o', max_completion_tokens: 16_384 });
  });

  test('a pinned version is never replaced: the error has its own window', async () => {
    const error = await errorOf(await send(ask(LONG, { model: 'gpt-4o-mini-2024-07-18' })));
    expect(error).toMatchObject({ status: 400, param: 'messages' });
    expect(error.message).toContain('a context window of 128000 tokens');
  });

  test('targets without a price are skipped under a cap, and named', async () => {
    const capped = await createTestKey(world.gateway, { project: { monthly_cap_usd: 10 } });
    const targets = [
      { provider: 'openai', model: 'nobody-knows-its-price' },
      { provider: 'anthropic', model: 'claude-haiku-4-5' },
    ];
    await callAdmin(world.gateway, '/aliases', { body: { alias: 'two', project_id: capped.projectId, targets } });
    const response = await postChat(world.gateway, capped.apiKey, ask('x', { model: 'two' }));
    expect([response.status, response.headers.get('x-failover'), response.headers.get('x-original-provider')]).toEqual([
      200,
      'true',
      'openai',
    ]);
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ attempts: [{ outcome: 'unpriced' }, { outcome: 'ok' }] });
  });

  test('an answer of the larger model is kept as any stand-in’s is', async () => {
    const body = ask(`${LONG} kept`);
    await (await send(body)).text();
    const hit = await send(body);
    expect(hit.headers.get('x-cache-hit')).toBe('exact');
  });
});
