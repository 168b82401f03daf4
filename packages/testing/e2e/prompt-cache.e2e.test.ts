import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { createTestKey } from '../stores/start-gateway';
import { postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const mark = { type: 'ephemeral' };
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };

/** As opencode sends it: marks on messages, whatever they hold. */
const CONVERSATION: JsonObject[] = [
  { role: 'system', content: 'rules', cache_control: mark },
  { role: 'user', content: 'one' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    cache_control: mark,
  },
  { role: 'tool', tool_call_id: 'c', content: 'result', cache_control: mark },
  { role: 'user', content: [{ type: 'text', text: 'two', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
];

describe('prompt caching of chat requests', () => {
  let world: TestEnvironment;
  let apiKey: string;
  beforeAll(async () => {
    world = await shareEnvironment({ kind: 'real' });
    ({ apiKey } = await createTestKey(world.gateway, { project: { cache_enabled: false } }));
  }, SETUP_MS);
  afterAll(() => world?.close(), SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  async function sent(body: JsonObject): Promise<{ text: string; body: JsonObject; dropped: string | null }> {
    const response = await postChat(world.gateway, apiKey, body);
    expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
    const upstream = world.upstream.requests.at(-1)?.body ?? {};
    return { text: JSON.stringify(upstream), body: upstream, dropped: response.headers.get('x-llm0-dropped') };
  }

  const count = (text: string, what: string) => text.split(what).length - 1;

  test('marks on messages, calls, results and parts reach Claude', async () => {
    const { text, body, dropped } = await sent({
      model: 'claude-haiku-4-5',
      messages: CONVERSATION,
      tools: [tool],
    });
    expect([count(text, '"cache_control"'), dropped]).toEqual([4, null]);
    expect(body.system).toEqual([{ type: 'text', text: 'rules', cache_control: mark }]);
    expect(text).toContain('"cache_control":{"type":"ephemeral","ttl":"1h"}');
    expect(body.messages).toMatchObject([
      {},
      { content: [{ type: 'tool_use', cache_control: mark }] },
      { content: [{ type: 'tool_result' }, { type: 'text', text: 'two' }] },
    ]);
  });

  test('a mark within the function of a tool is that of the tool', async () => {
    const tools = [{ ...tool, function: { ...tool.function, cache_control: mark } }];
    const messages = [{ role: 'user', content: 'one' }];
    const claude = await sent({ model: 'claude-haiku-4-5', messages, tools });
    expect([claude.body.tools, claude.dropped]).toMatchObject([[{ name: 'f', cache_control: mark }], null]);
    for (const model of ['gpt-4o-mini', 'gemini-2.5-flash']) {
      const { text, dropped } = await sent({ model, messages, tools });
      expect([model, count(text, 'cache_control'), dropped]).toEqual([model, 0, 'cache_control']);
    }
  });

  test('there are never more than four', async () => {
    const marked = { ...tool, cache_control: mark };
    const { text, dropped } = await sent({ model: 'claude-haiku-4-5', messages: CONVERSATION, tools: [marked] });
    expect([count(text, '"cache_control"'), dropped]).toEqual([4, 'cache_control']);
  });

  test('Claude on Bedrock gets points in its own words', async () => {
    const model = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
    const { text, dropped } = await sent({ model, messages: CONVERSATION, tools: [tool] });
    expect([count(text, '"cachePoint"'), count(text, '"ttl":"1h"'), dropped]).toEqual([4, 1, null]);
  });

  test('a model that caches nothing gets none, and the caller is told', async () => {
    const { text, dropped } = await sent({
      model: 'us.meta.llama3-3-70b-instruct-v1:0',
      messages: CONVERSATION.slice(0, 2),
    });
    expect([count(text, 'cachePoint'), dropped]).toEqual([0, 'cache_control']);
  });

  test.each(['gpt-4o-mini', 'gemini-2.5-flash'])('%s never sees a mark', async (model) => {
    const { text, dropped } = await sent({ model, messages: CONVERSATION, tools: [{ ...tool, cache_control: mark }] });
    expect([count(text, 'cache_control'), dropped]).toEqual([0, 'cache_control']);
    const inside = { type: 'function', function: { ...tool.function, cache_control: mark } };
    const again = await sent({ model, messages: [{ role: 'user', content: 'x' }], tools: [inside] });
    expect([count(again.text, 'cache_control'), again.dropped]).toEqual([0, 'cache_control']);
  });

  test('Codex’s prompt_cache_key opens Claude’s cache in the Responses API too', async () => {
    const response = await fetch(`${world.gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'claude-haiku-4-5', instructions: 'rules', input: 'x', prompt_cache_key: 'k' }),
    });
    expect([response.status, response.headers.get('x-llm0-dropped')]).toEqual([200, null]);
    expect(count(JSON.stringify(world.upstream.requests.at(-1)?.body), '"cache_control"')).toBe(2);
  });

  test('prompt_cache_key has the prompt cached by Claude, at either vendor', async () => {
    const messages = [
      { role: 'system', content: 'rules' },
      { role: 'user', content: 'one' },
    ];
    const anthropic = await sent({ model: 'claude-haiku-4-5', messages, prompt_cache_key: 'k' });
    expect([count(anthropic.text, '"cache_control"'), anthropic.dropped]).toEqual([2, null]);
    const long = await sent({ model: 'claude-haiku-4-5', messages, prompt_cache_retention: '24h' });
    expect(count(long.text, '"ttl":"1h"')).toBe(2);
    const bedrock = await sent({
      model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0',
      messages,
      prompt_cache_key: 'k',
    });
    expect([count(bedrock.text, '"cachePoint"'), bedrock.dropped]).toEqual([2, null]);
    const gemini = await sent({ model: 'gemini-2.5-flash', messages, prompt_cache_key: 'k' });
    expect(gemini.dropped).toBe('prompt_cache_key');
  });
});
