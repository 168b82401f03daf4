import { beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { leaksIn, PLANTED, REDACTED, saidIn } from '../guardrails/planted';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin } from '../stores/start-gateway';
import { logRow, postChat, waitUntil } from './environment';
import { ALL_VENDORS, chatBody, rulesOf, useGuardrails, VENDORS, type Vendor } from './guardrails.fixture';

describe('guardrails over several attempts', () => {
  const { world, apiKey, enforce, post, sentBody } = useGuardrails();

  describe('pseudonyms', () => {
    const NAMES = rulesOf('pseudonymise');
    const said = (response: Response) => response.text().then((text) => saidIn(text));

    test.each([...ALL_VENDORS])('come back in texts and arguments of %s, streamed or not', async (vendor) => {
      await enforce(NAMES);
      for (const stream of [false, true]) {
        for (let cutAt = 1; cutAt < 12; cutAt += 3) {
          world().upstream.control.enqueue(
            { text: 'To <EMAIL_1>, not <EMAIL_7>.', chunks: cutAt },
            { toolCalls: [{ name: 'look', arguments: '{"to":"<EMAIL_1>"}' }], cutAt },
          );
          const body = { model: VENDORS[vendor], stream, ...chatBody('user', 'Write to ann@example.com.') };
          expect(await said(await post('/v1/chat/completions', body))).toContain('To ann@example.com, not <EMAIL_7>.');
          expect(sentBody()).not.toContain('ann@example.com');
          expect(await said(await post('/v1/chat/completions', body))).toContain('{"to":"ann@example.com"}');
        }
      }
    });

    test('are the same over ten turns, and in another model', async () => {
      await enforce(NAMES, { pseudonym_scope: 'project' });
      const names = new Set<string>();
      const messages: JsonObject[] = [];
      for (let turn = 0; turn < 10; turn++) {
        messages.push({ role: 'user', content: `Turn ${turn}: ann@example.com` });
        const model = VENDORS[ALL_VENDORS[turn % ALL_VENDORS.length] ?? 'openai'];
        const headers = { 'x-customer-id': 'ann' };
        world().upstream.control.enqueue({ text: 'Noted.' });
        const response = await post('/v1/chat/completions', { model, messages }, headers);
        expect(response.status).toBe(200);
        await response.text();
        for (const [name] of sentBody().matchAll(/<EMAIL_[0-9a-z]+>/g)) names.add(name);
        messages.push({ role: 'assistant', content: 'Noted for ann@example.com.' });
        expect(sentBody()).not.toContain('ann@example.com');
      }
      expect(names.size).toBe(1);
      await post('/v1/chat/completions', { model: VENDORS.openai, messages }, { 'x-customer-id': 'bob' });
      const [name = ''] = /<EMAIL_[0-9a-z]+>/.exec(sentBody()) ?? [];
      expect([name.length > 0, names.has(name)]).toEqual([true, false]);
    });

    test('come back from a cache that another process wrote', async () => {
      await enforce(NAMES);
      const other = await hostGateway({ env: world().env });
      try {
        world().upstream.control.enqueue({ text: 'To <EMAIL_1> and <EMAIL_2>.' });
        const text = `ann@example.com, bob@example.com ${crypto.randomUUID().slice(0, 8)}`;
        const body = { model: VENDORS.openai, messages: [{ role: 'user', content: text }] };
        const headers = { 'x-llm0-cache': 'on' };
        const first = await said(await post('/v1/chat/completions', body, headers));
        const hit = await postChat(other, apiKey(), body, { headers: { 'x-llm0-drop-params': 'true' } });
        expect([hit.headers.get('x-cache-hit'), await said(hit)]).toEqual([
          'exact',
          expect.stringContaining('To ann@example.com and bob@example.com.'),
        ]);
        expect(first).toContain('To ann@example.com and bob@example.com.');
      } finally {
        await other.kill();
      }
    }, 30_000);

    test('survive a failover', async () => {
      await enforce(NAMES);
      world().upstream.control.setModel(VENDORS.openai, { status: 529 });
      world().upstream.control.setDefault({ text: 'To <EMAIL_1>.' });
      const body = { model: VENDORS.openai, messages: [{ role: 'user', content: 'ann@example.com' }] };
      const response = await post('/v1/chat/completions', body);
      expect([response.headers.get('x-failover'), await said(response)]).toEqual([
        'true',
        expect.stringContaining('To ann@example.com.'),
      ]);
      expect(world().upstream.requests.map((request) => leaksIn(JSON.stringify(request.body)))).not.toContainEqual(
        expect.arrayContaining([expect.any(String)]),
      );
    });
  });

  describe.each([true, false])('hedging and failover, streamed: %p', (stream) => {
    const alias = `hedged-${stream}`;
    const asked = { model: alias, stream, messages: [{ role: 'user', content: 'Write to ann@example.com.' }] };
    const setModel = (vendor: Vendor, behaviour: FakeBehaviour) =>
      world().upstream.control.setModel(VENDORS[vendor], behaviour);
    const rowOf = async (response: Response) => logRow(world().gateway, response.headers.get('x-request-id') ?? '');
    beforeAll(async () => {
      const targets = [
        { provider: 'openai', model: VENDORS.openai },
        { provider: 'anthropic', model: VENDORS.anthropic },
      ];
      await callAdmin(world().gateway, '/aliases', { body: { alias, targets, hedge_after_ms: 100 } });
    });

    test('fallback answers are checked too, and a block stops all attempts', async () => {
      await enforce(rulesOf('block', 'output'));
      setModel('openai', { hang: true });
      setModel('anthropic', { text: `${PLANTED} ${'more '.repeat(2000)}`, chunks: 2000, gapMs: stream ? 2 : 0 });
      const response = await post('/v1/chat/completions', asked);
      const text = await response.text();
      expect([text.includes('guardrail_blocked'), leaksIn(text)]).toEqual([true, []]);
      await waitUntil(() => world().upstream.control.counters.cancelled === (stream ? 2 : 1));
      const { attempts, guardrails } = (await rowOf(response)) as unknown as {
        readonly attempts: readonly { readonly outcome: string }[];
        readonly guardrails: JsonValue;
      };
      expect(attempts[0]).toMatchObject({ provider: 'openai', outcome: 'superseded' });
      expect(guardrails).toMatchObject([{ rule: 'pii', on: 'output', action: 'block' }]);
    });

    test('names survive both, and no vendor is told what they stand for', async () => {
      await enforce(rulesOf('pseudonymise'));
      const answers: FakeBehaviour = { text: 'To <EMAIL_1>, not bob@example.com.', chunks: 9 };
      for (const first of [{ hang: true }, { status: 529 }] as const) {
        world().upstream.control.reset();
        setModel('openai', first);
        setModel('anthropic', answers);
        const response = await post('/v1/chat/completions', asked);
        expect(saidIn(await response.text())).toContain('To ann@example.com, not <EMAIL_2>.');
        const sent = world().upstream.requests.map((request) => JSON.stringify(request.body));
        expect(sent.length).toBeGreaterThan(1);
        for (const body of sent) expect([leaksIn(body), body.includes('<EMAIL_1>')]).toEqual([[], true]);
      }
    });

    test('an answer of another model after a failover is redacted', async () => {
      await enforce(rulesOf('redact', 'output'));
      setModel('openai', { status: 529 });
      setModel('anthropic', { text: PLANTED, chunks: PLANTED.length });
      const text = await (await post('/v1/chat/completions', asked)).text();
      expect(leaksIn(text)).toEqual([]);
      expect(saidIn(text)).toContain(REDACTED);
    });
  });

  test('a blocked stream cancels the vendor', async () => {
    await enforce(rulesOf('block', 'output'));
    world().upstream.control.enqueue({ text: `${PLANTED} ${'more '.repeat(2000)}`, chunks: 2000, gapMs: 2 });
    const body = { model: VENDORS.openai, stream: true, ...chatBody('unknown', '') };
    const text = await (await post('/v1/chat/completions', body)).text();
    expect(text).toContain('guardrail_blocked');
    expect(text).not.toContain('[DONE]');
    await waitUntil(() => world().upstream.control.counters.cancelled === 1);
  });
});
