import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { isAll } from '../lane';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey, startGateway } from '../stores/start-gateway';
import {
  allLogs,
  ask,
  logRow,
  postChat,
  STORE_KINDS,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';
import { runsApart, testApart } from './test-apart';

const SETUP_MS = 60_000;
const FREE = '0.000000000';

for (const kind of STORE_KINDS) {
  describe(`Idempotency-Key on ${kind} stores`, () => {
    let world: TestEnvironment;
    beforeAll(async () => {
      world = await shareEnvironment({ kind, apart: runsApart });
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);

    const newProject = () => createTestKey(world.gateway, { project: { cache_enabled: false } });
    const post = (apiKey: string, key: string, body: unknown, signal?: AbortSignal) =>
      postChat(world.gateway, apiKey, body, { headers: { 'Idempotency-Key': key }, signal });
    const received = () => world.upstream.control.counters.received;

    test('a completed answer is replayed for nothing, plain and streamed, also after a restart', async () => {
      const { apiKey, projectId } = await newProject();
      for (const stream of [false, true]) {
        const question = ask('once only \u0000', { stream, x_fake: { text: 'the answer \u0000' } });
        const key = `key ${stream}`;
        const first = await post(apiKey, key, question);
        const firstText = await first.text();
        expect(first.headers.get('x-idempotent-replay')).toBeNull();
        const before = received();
        const replay = await post(apiKey, key, question);
        const text = await replay.text();
        expect(received()).toBe(before);
        expect([replay.status, replay.headers.get('x-idempotent-replay')]).toEqual([200, 'true']);
        expect(replay.headers.get('content-type')).toBe(first.headers.get('content-type'));
        for (const name of ['x-provider', 'x-model']) expect(replay.headers.get(name)).toBe(first.headers.get(name));
        expect(contentOf(text, stream)).toBe('the answer \u0000');
        expect(contentOf(firstText, stream)).toBe('the answer \u0000');
        if (stream) expect(text).toEndWith('data: [DONE]\n\n');
        else expect(replay.headers.get('x-cost-usd')).toBe(FREE);
        const row = await logRow(world.gateway, replay.headers.get('x-request-id') ?? '');
        expect(row).toMatchObject({ status: 'success', http_status: 200, cost_usd: 0 });
      }
      const before = received();
      await world.restart(runsApart ? 'kill' : 'stop');
      const again = await post(
        apiKey,
        'key false',
        ask('once only \u0000', { stream: false, x_fake: { text: 'the answer \u0000' } }),
      );
      expect(again.headers.get('x-idempotent-replay')).toBe('true');
      await again.text();
      expect(received()).toBe(before);
      const rows = await allLogs(world.gateway, `project_id=${projectId}`);
      expect(rows.filter((row) => row.cost_usd > 0)).toHaveLength(2);
      expect((await settledLedger(world.gateway)).projects.every((project) => project.diff_usd === 0)).toBe(true);
    });

    const DIALECTS = [
      ['/v1/chat/completions', 'gpt-4o-mini'],
      ['/v1/chat/completions', 'claude-haiku-4-5'],
      ['/v1/messages', 'claude-haiku-4-5'],
      ['/v1/messages', 'gpt-4o-mini'],
      ['/v1/responses', 'gpt-4o-mini'],
      ['/v1/responses', 'gemini-2.5-flash'],
    ] as const;
    const postTo = (apiKey: string, path: string, key: string, body: object) =>
      fetch(`${world.gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
      });
    const said = (path: string, text: string) => (path === '/v1/responses' ? { input: text } : ask(text));
    /** The replay's own id stands for no answer: none was kept under it. */
    const isKept = async (apiKey: string, answer: Response) => {
      const id = `resp_${answer.headers.get('x-request-id')?.replaceAll('-', '')}`;
      const headers = { authorization: `Bearer ${apiKey}` };
      return (await fetch(`${world.gateway.url}/v1/responses/${id}`, { headers })).status === 200;
    };

    test('the same bytes again in any dialect, ids and times among them, and kept once', async () => {
      const { apiKey } = await newProject();
      const asked = [];
      // The store keeps bytes of any dialect.
      for (const [path, model] of isAll || kind === 'real' ? DIALECTS : DIALECTS.slice(0, 1)) {
        for (const stream of [false, true]) {
          for (const fake of [
            { text: 'Grüße 🌍 \u0000 once' },
            { toolCalls: [{ name: 'look', arguments: '{"at":"Bern"}' }] },
          ]) {
            const key = `${path} ${model} ${stream} ${Object.keys(fake)}`;
            const body = { model, max_tokens: 50, ...said(path, key), stream };
            if (path === '/v1/responses') Reflect.deleteProperty(body, 'max_tokens');
            world.upstream.control.enqueue(fake);
            const ask = () => postTo(apiKey, path, key, { ...body, model });
            const first = await ask();
            const bytes = await first.bytes();
            expect([key, first.status, bytes.length > 100]).toEqual([key, 200, true]);
            asked.push({ key, path, stream, ask, first, bytes });
          }
        }
      }
      // Times tell seconds: in the next one, a new time would be seen.
      await Bun.sleep(1020 - (Date.now() % 1000));
      const replays = [];
      for (const { key, stream, ask, first, bytes } of asked) {
        const again = await ask();
        expect([key, again.headers.get('x-idempotent-replay')]).toEqual([key, 'true']);
        expect([key, Buffer.from(await again.bytes()).equals(bytes)]).toEqual([key, true]);
        expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
        if (!stream) expect(again.headers.get('x-cost-usd')).toBe(FREE);
        replays.push(again);
      }
      // At once: what is not kept is looked for twice.
      const areKept = (answers: readonly Response[]) => Promise.all(answers.map((answer) => isKept(apiKey, answer)));
      expect(await areKept(asked.map(({ first }) => first))).toEqual(asked.map(({ path }) => path === '/v1/responses'));
      expect(await areKept(replays)).toEqual(replays.map(() => false));
    });

    test('a stream too long to keep is written anew under its own id, and not kept again', async () => {
      const { apiKey } = await newProject();
      const body = { model: 'gpt-4o-mini', input: 'at length', stream: true };
      world.upstream.control.enqueue({ text: 'long '.repeat(600_000), chunks: 40 });
      const first = await postTo(apiKey, '/v1/responses', 'long', body);
      const firstText = await first.text();
      const again = await postTo(apiKey, '/v1/responses', 'long', body);
      expect(again.headers.get('x-idempotent-replay')).toBe('true');
      const text = await again.text();
      const idsOf = (stream: string) => new Set(stream.match(/"resp_[0-9a-f]{32}"/g));
      expect([idsOf(text).size, [...idsOf(text)]]).toEqual([1, [...idsOf(firstText)]]);
      expect(text.slice(text.lastIndexOf('event: '))).toContain('"status":"completed"');
      expect(await isKept(apiKey, again)).toBe(false);
    });

    test('another body is a conflict; another API key has keys of its own', async () => {
      const { apiKey, projectId } = await newProject();
      await (await post(apiKey, 'same', ask('one'))).text();
      const other = await post(apiKey, 'same', ask('two'));
      expect(other.status).toBe(409);
      expect(await other.json()).toMatchObject({ error: { code: 'idempotency_conflict', param: 'Idempotency-Key' } });
      expect((await logRow(world.gateway, other.headers.get('x-request-id') ?? '')).error_code).toBe(
        'idempotency_conflict',
      );
      const { key } = await callAdmin<{ key: string }>(world.gateway, `/projects/${projectId}/keys`, {
        body: { name: 'second', rate_limit_per_minute: null },
      });
      expect((await post(key, 'same', ask('two'))).headers.get('x-idempotent-replay')).toBeNull();
      expect((await post(apiKey, 'x'.repeat(300), ask('one'))).status).toBe(400);
    });

    test('one in flight is joined: one call, one bill', async () => {
      const { apiKey, projectId } = await newProject();
      const before = received();
      world.upstream.control.hold();
      const asked = Array.from({ length: 10 }, () => post(apiKey, 'at once', ask('at once')));
      await waitUntil(() => received() === before + 1);
      await Bun.sleep(100);
      world.upstream.control.release();
      const answers = await Promise.all(asked);
      const texts = await Promise.all(answers.map((answer) => answer.text()));
      expect(received()).toBe(before + 1);
      expect(new Set(texts.map((text) => contentOf(text, false))).size).toBe(1);
      expect(answers.filter((answer) => answer.headers.get('x-idempotent-replay') === 'true')).toHaveLength(9);
      await settledLedger(world.gateway);
      const rows = await allLogs(world.gateway, `project_id=${projectId}`);
      expect(rows).toHaveLength(10);
      expect(rows.filter((row) => row.cost_usd > 0)).toHaveLength(1);
    });

    test('errors are not kept', async () => {
      const { apiKey } = await newProject();
      world.upstream.control.enqueue({ status: 400 });
      expect((await post(apiKey, 'error', ask('fails first'))).status).toBe(400);
      const cut = ask('cut', { stream: true });
      world.upstream.control.enqueue({ truncateAfter: 2 });
      expect(await (await post(apiKey, 'cut', cut)).text()).not.toContain('[DONE]');
      const retried = await post(apiKey, 'error', ask('fails first'));
      expect([retried.status, retried.headers.get('x-idempotent-replay')]).toEqual([200, null]);
      expect(await (await post(apiKey, 'cut', cut)).text()).toContain('[DONE]');
    });

    test('a caller that leaves frees its key, and who joined goes on', async () => {
      const { apiKey } = await newProject();
      const slow = ask('leave', { stream: true });
      world.upstream.control.enqueue({ hangAfter: 2 });
      const leaving = new AbortController();
      const first = await post(apiKey, 'left', slow, leaving.signal);
      await first.body?.getReader().read();
      const joined = post(apiKey, 'left', slow);
      await Bun.sleep(200);
      leaving.abort();
      const answer = await joined;
      expect(await answer.text()).toContain('[DONE]');
      expect(answer.headers.get('x-idempotent-replay')).toBeNull();
      const replay = await post(apiKey, 'left', slow);
      expect(replay.headers.get('x-idempotent-replay')).toBe('true');
      await replay.text();
    });

    test('a revoked key gets no replay', async () => {
      const { apiKey, projectId, keyId } = await newProject();
      await (await post(apiKey, 'revoked', ask('secret'))).text();
      await callAdmin(world.gateway, `/projects/${projectId}/keys/${keyId}`, { method: 'DELETE' });
      const refused = await post(apiKey, 'revoked', ask('secret'));
      expect(refused.status).toBe(401);
    });
  });
}

describe('Idempotency-Key between two gateways', () => {
  let world: TestEnvironment;
  beforeAll(async () => {
    world = await shareEnvironment({ kind: 'real', env: { LLM0_TEST_LEASE_MS: '3000' } });
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  const newKey = async () => (await createTestKey(world.gateway, { project: { cache_enabled: false } })).apiKey;
  const post = (gateway: { url: string }, apiKey: string, key: string) =>
    postChat(gateway, apiKey, ask('twice'), { headers: { 'Idempotency-Key': key } });

  test(
    'what is under way in one is joined from the other',
    async () => {
      const other = await hostGateway({ env: world.env });
      try {
        const apiKey = await newKey();
        const { control } = world.upstream;
        const before = control.counters.received;
        control.hold();
        const first = post(world.gateway, apiKey, 'shared');
        await waitUntil(() => control.counters.received === before + 1);
        const second = post(other, apiKey, 'shared');
        await Bun.sleep(500);
        control.release();
        expect([(await first).status, (await second).status]).toEqual([200, 200]);
        expect((await second).headers.get('x-idempotent-replay')).toBe('true');
        expect(control.counters.received).toBe(before + 1);
      } finally {
        await other.kill();
      }
    },
    2 * SETUP_MS,
  );

  testApart(
    'what a killed one claimed is free after its lease',
    async () => {
      const other = await startGateway({ env: world.env });
      try {
        const apiKey = await newKey();
        const { control } = world.upstream;
        const before = control.counters.received;
        control.hold();
        const lost = post(other, apiKey, 'orphan').catch(() => 'gone');
        await waitUntil(() => control.counters.received === before + 1);
        await other.kill();
        expect(await lost).toBe('gone');
        control.release();
        const heir = await post(world.gateway, apiKey, 'orphan');
        expect([heir.status, heir.headers.get('x-idempotent-replay')]).toEqual([200, null]);
        expect(control.counters.received).toBe(before + 2);
      } finally {
        await other.kill();
      }
    },
    2 * SETUP_MS,
  );
});

/** The text of an answer, whatever its form. */
function contentOf(text: string, stream: boolean): string {
  if (!stream)
    return (JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0]?.message.content ?? '';
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as { choices: { delta?: { content?: string } }[] })
    .map((chunk) => chunk.choices[0]?.delta?.content ?? '')
    .join('');
}
