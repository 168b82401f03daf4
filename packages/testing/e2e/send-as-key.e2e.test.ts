import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { fakePicture, fakeSpeech } from '../fake-upstream/render-tasks';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import {
  ask,
  logRow,
  ON_ONE_KIND,
  settledLedger,
  startEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';

const SETUP_MS = 60_000;
/** What the fake vendor bills of an ordinary answer costs more than this. */
const TINY_USD = '0.0001';

for (const kind of ON_ONE_KIND) {
  describe(`an operator who sends as a key, on ${kind} stores`, () => {
    let world: TestEnvironment;
    beforeAll(async () => {
      world = await startEnvironment({ kind, apart: false });
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);

    type Key = Awaited<ReturnType<typeof createTestKey>>;
    const pathOf = ({ projectId, keyId }: Key) => `/projects/${projectId}/keys/${keyId}`;
    const send = (key: Key, body: object, headers: Record<string, string> = {}, signal?: AbortSignal) =>
      fetch(`${world.gateway.url}/admin/v1${pathOf(key)}/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${world.gateway.adminToken}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify(body),
        signal,
      });
    const codeOf = async (answer: Response) => [
      answer.status,
      ((await answer.json()) as { error: { code: string } }).error.code,
    ];

    test("is held, booked and logged as the key's request, and audited", async () => {
      const key = await createTestKey(world.gateway, { key: { rate_limit_per_minute: 2 } });
      const answer = await send(
        key,
        { ...ask('as the key'), monthly_usd: 0.1 },
        { 'x-customer-id': 'c', 'x-llm0-team': 't' },
      );
      expect([answer.status, answer.headers.get('x-llm0-sent-as')]).toEqual([200, key.keyId]);
      await answer.text();
      // Numbers of the body are the caller's: nothing reads money into them.
      expect(world.upstream.requests.at(-1)?.body).toMatchObject({ monthly_usd: 0.1 });
      const requestId = answer.headers.get('x-request-id') ?? '';
      await settledLedger(world.gateway);
      const row = await logRow(world.gateway, requestId);
      expect(row).toMatchObject({ api_key_id: key.keyId, status: 'success', customer_id: 'c', labels: { team: 't' } });
      expect(row.cost_usd).toBeGreaterThan(0);
      const { data } = await callAdmin<{ data: object[] }>(world.gateway, '/audit?resource=playground&limit=1');
      expect(data[0]).toMatchObject({
        ...{ actor: 'ADMIN_TOKEN', action: 'send', resource_id: key.keyId },
        after: { project_id: key.projectId, request_id: requestId },
      });
      await (await send(key, ask('two'))).text();
      const limited = await send(key, ask('three'));
      expect(limited.headers.get('x-llm0-sent-as')).toBe(key.keyId);
      expect(await codeOf(limited)).toEqual([429, 'rate_limit_exceeded']);
      expect((await settledLedger(world.gateway)).ok).toBe(true);
    });

    test('its budget, its models, its end hold', async () => {
      const poor = await createTestKey(world.gateway, { key: { budget_usd: TINY_USD } });
      expect(await codeOf(await send(poor, ask('dear', { max_tokens: 4000 })))).toEqual([402, 'key_budget_exceeded']);
      const narrow = await createTestKey(world.gateway, { key: { allowed_models: ['gpt-4o-mini'] } });
      expect(await codeOf(await send(narrow, { ...ask('x'), model: 'gpt-4o' }))).toEqual([403, 'model_not_allowed']);
      const { data } = await callAdmin<{ data: { id: string }[] }>(world.gateway, `${pathOf(narrow)}/models`);
      expect(data.map(({ id }) => id)).toEqual(['gpt-4o-mini']);
      const over = await createTestKey(world.gateway, { key: { expires_at: '2020-01-01T00:00:00Z' } });
      expect(await codeOf(await send(over, ask('x')))).toEqual([403, 'key_expired']);
      await callAdmin(world.gateway, pathOf(narrow), { method: 'DELETE' });
      expect(await codeOf(await send(narrow, ask('x')))).toEqual([404, 'not_found']);
    });

    test('makes pictures and speaks, as the key does', async () => {
      const key = await createTestKey(world.gateway);
      const make = async (path: string, body: object) => {
        const answer = await fetch(`${world.gateway.url}/admin/v1${pathOf(key)}/${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${world.gateway.adminToken}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        expect([answer.status, answer.headers.get('x-llm0-sent-as')]).toEqual([200, key.keyId]);
        const bytes = Buffer.from(await answer.arrayBuffer());
        const row = await logRow(world.gateway, answer.headers.get('x-request-id') ?? '');
        expect(row).toMatchObject({ api_key_id: key.keyId, status: 'success' });
        expect(row.cost_usd).toBeGreaterThan(0);
        return bytes;
      };
      const drawn = await make('images/generations', { model: 'gpt-image-2', prompt: 'a cat', size: '1024x1024' });
      expect(JSON.parse(drawn.toString()).data[0].b64_json).toBe(fakePicture('a cat'));
      const spoken = { model: 'tts-1', input: 'Hello', voice: 'alloy' };
      expect(await make('audio/speech', spoken)).toEqual(fakeSpeech(spoken));
    });

    test('streams as it comes; who leaves cancels the upstream', async () => {
      const key = await createTestKey(world.gateway);
      const leave = new AbortController();
      const body = ask('slow', { stream: true, x_fake: { chunks: 500, gapMs: 20 } });
      const answer = await send(key, body, {}, leave.signal);
      expect(answer.headers.get('content-type')).toStartWith('text/event-stream');
      const first = await answer.body?.getReader().read();
      expect(new TextDecoder().decode(first?.value)).toContain('data: ');
      const before = world.upstream.control.counters.cancelled;
      leave.abort();
      await waitUntil(() => world.upstream.control.counters.cancelled > before);
      const requestId = answer.headers.get('x-request-id') ?? '';
      expect((await logRow(world.gateway, requestId)).status).toBe('aborted');
    });

    test('a viewer, another site and an API key are refused', async () => {
      const key = await createTestKey(world.gateway);
      const { token } = await callAdmin<{ token: string }>(world.gateway, '/tokens', {
        body: { name: 'looks', role: 'viewer' },
      });
      const as = (authorization: string) => send(key, ask('x'), { authorization });
      expect(await codeOf(await as(`Bearer ${token}`))).toEqual([403, 'permission_denied']);
      const withKey = await as(`Bearer ${key.apiKey}`);
      expect(withKey.headers.get('x-llm0-sent-as')).toBeNull();
      expect(await codeOf(withKey)).toEqual([401, 'invalid_api_key']);
      const signIn = await fetch(`${world.gateway.url}/admin/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: world.gateway.url },
        body: JSON.stringify({ token: world.gateway.adminToken }),
      });
      const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? '';
      const bySession = (origin: string) =>
        fetch(`${world.gateway.url}/admin/v1${pathOf(key)}/chat/completions`, {
          method: 'POST',
          headers: { cookie, origin },
          body: JSON.stringify(ask('x')),
        });
      expect((await bySession('https://elsewhere.example')).status).toBe(403);
      expect((await bySession(world.gateway.url)).status).toBe(200);
    });
  });
}
