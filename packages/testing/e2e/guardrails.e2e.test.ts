import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type McpServerUnderTest, startMcpServer, textTool } from '../fake-upstream/start-mcp-server';
import { Matrix } from '../guardrails/matrix';
import { CLEAN, leaksIn, PLANTED, REDACTED, readValues, saidIn } from '../guardrails/planted';
import { callAdmin } from '../stores/start-gateway';
import { logRow, postChat, waitUntil } from './environment';
import {
  ALL_VENDORS,
  anthropicBody,
  BODIES,
  chatBody,
  PARTS,
  ROUTES,
  type Route,
  rulesOf,
  useGuardrails,
  VENDORS,
  withUnknown,
} from './guardrails.fixture';

describe('guardrails cannot be walked around', () => {
  const { world, apiKey, setPolicy, enforce, post, sentBody } = useGuardrails({
    allowed_tools: ['*'],
    code_mode: true,
  });
  const matrix = new Matrix();
  let tools: McpServerUnderTest;
  beforeAll(async () => {
    tools = startMcpServer([textTool('echo')]);
    await callAdmin(world().gateway, '/mcp/servers', { body: { approve: 'all', alias: 'web', url: tools.url } });
  });
  afterAll(async () => {
    matrix.write();
    await tools.stop();
  });

  describe.each(['redact', 'block', 'pseudonymise'])('input, %s', (action) => {
    beforeAll(() => enforce(rulesOf(action, 'input')));

    const cells = Object.entries(ROUTES).flatMap(([route, { vendors }]) =>
      vendors.map((vendor) => ({ route, vendor })),
    );
    test.each(cells)('$route to $vendor', async ({ route, vendor }) => {
      for (const part of PARTS) {
        const { path, body } = ROUTES[route] as Route;
        const content = withUnknown(BODIES[route]?.(part, PLANTED) ?? {}, part, PLANTED);
        const before = world().upstream.requests.length;
        const response = await post(path(vendor, false), body(VENDORS[vendor], content, false));
        const answer = await response.text();
        const wasSent = world().upstream.requests.length > before;
        const leaks = wasSent ? leaksIn(sentBody()) : [];
        matrix.note({ on: 'input', route, vendor, stream: false, part, action, tries: 1, leaks: leaks.length });
        expect([part, leaks]).toEqual([part, []]);
        // Responses say again what they were asked: that is the caller's own.
        if (route !== '/v1/responses') expect(leaksIn(answer)).toEqual([]);
        if (action === 'block') {
          expect([part, response.status, wasSent]).toEqual([part, 400, false]);
          expect(answer).toContain('guardrail');
        } else expect([part, response.status]).toEqual([part, 200]);
      }
    });
  });

  describe('clean texts', () => {
    test.each([...ALL_VENDORS])('arrive to the byte, in and out, with %s', async (vendor) => {
      const texts = async () => {
        const sent: string[] = [];
        const got: string[] = [];
        for (const stream of [false, true]) {
          world().upstream.control.enqueue({ text: CLEAN, chunks: 7 });
          const body = { model: VENDORS[vendor], stream, ...chatBody('user', CLEAN) };
          const answer = await (await post('/v1/chat/completions', body)).text();
          sent.push(sentBody());
          const values = readValues(answer) as { choices?: { message?: JsonObject; delta?: JsonObject }[] }[];
          const pieces = values.map(
            ({ choices }) => choices?.[0]?.message?.content ?? choices?.[0]?.delta?.content ?? '',
          );
          got.push(pieces.join(''));
        }
        return { sent, got };
      };
      await setPolicy({ mode: 'off', rules: [] });
      const without = await texts();
      await enforce(rulesOf('redact'));
      expect(await texts()).toEqual(without);
      expect(without.got).toEqual([CLEAN, CLEAN]);
    });
  });

  describe('routes of their own', () => {
    test.each(['redact', 'block'])('/v1/completions and /v1/embeddings, %s', async (action) => {
      await enforce(rulesOf(action));
      for (const [route, body] of [
        ['/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: ['Hello', PLANTED], suffix: PLANTED }],
        ['/v1/embeddings', { model: 'text-embedding-3-small', input: ['Hello', PLANTED], user: 'u' }],
      ] as const) {
        const before = world().upstream.requests.length;
        const response = await post(route, body as unknown as JsonObject);
        const text = await response.text();
        const wasSent = world().upstream.requests.length > before;
        const leaks = wasSent ? leaksIn(sentBody()) : [];
        matrix.note({
          ...{ on: 'input', route, vendor: 'openai', stream: false, part: 'user', action },
          ...{ tries: 1, leaks: leaks.length },
        });
        expect([route, leaks, response.status]).toEqual([route, [], action === 'block' ? 400 : 200]);
        if (action === 'block') expect(text).toContain('guardrail_blocked');
      }
      for (const stream of [false, true]) {
        const cuts = stream ? [1, 2, 3, 5, PLANTED.length] : [1];
        const leaks: string[] = [];
        for (const chunks of cuts) {
          world().upstream.control.enqueue({ text: PLANTED, chunks });
          const response = await post('/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: 'Hello', stream });
          leaks.push(...leaksIn(await response.text()));
        }
        matrix.note({
          ...{ on: 'output', route: '/v1/completions', vendor: 'openai', stream, part: 'assistant', action },
          ...{ tries: cuts.length, leaks: leaks.length },
        });
        expect(leaks).toEqual([]);
      }
    });

    test('tokens of which nobody knows what they say are refused', async () => {
      await enforce(rulesOf('redact'));
      const answers = await Promise.all([
        post('/v1/embeddings', { model: 'text-embedding-3-small', input: [[1, 2, 3]] }),
        post('/v1/completions', { model: 'gpt-3.5-turbo-instruct', prompt: [1, 2, 3] }),
        post('/passthrough/openai/v1/embeddings', { model: 'text-embedding-3-small', input: [1, 2, 3] }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
    });

    test('native paths that nobody knows are refused', async () => {
      await enforce(rulesOf('redact'));
      const response = await post('/passthrough/openai/v1/files', { file: PLANTED });
      expect(response.status).toBe(403);
    });

    test.each(['redact', 'block'])('headers and query of native requests, %s', async (action) => {
      await enforce(rulesOf(action));
      const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };
      const path = '/passthrough/openai/v1/chat/completions';
      const headers = {
        'openai-beta': 'ann@example.com',
        'user-agent': 'me/1 ann@example.com',
        'x-foo': 'ann@example.com',
      };
      const before = world().upstream.requests.length;
      const response = await post(path, body, headers);
      expect(response.status).toBe(action === 'block' ? 400 : 200);
      const sent = world()
        .upstream.requests.slice(before)
        .map((one) => JSON.stringify(one.headers));
      expect([sent.length, sent.join().includes('ann@')]).toEqual([action === 'block' ? 0 : 1, false]);
      if (action === 'redact') expect(sent.join()).toContain('me/1 [EMAIL]');
      const asked = await post(`${path}?to=ann%252540example.com`, body);
      expect([asked.status, await asked.text()]).toMatchObject([400, expect.stringContaining('guardrail_blocked')]);
    });

    const MCP_HEADERS = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
    const toolCall = (name: string, args: JsonObject, more: JsonObject = {}): JsonObject => ({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, ...more } },
    });
    const callTool = async (args: JsonObject, more: JsonObject = {}) =>
      post('/mcp', toolCall('web__echo', args, more), MCP_HEADERS);
    const asked = () => tools.seen.filter(({ method }) => method === 'tools/call');

    test.each(['redact', 'block'])('/mcp/code, %s', async (action) => {
      await enforce(rulesOf(action));
      const before = asked().length;
      const code = `const said = await tools.web.echo({ text: ${JSON.stringify(PLANTED)} }).catch((e) => String(e)); said`;
      const answer = await (await post('/mcp/code', toolCall('execute_code', { code }), MCP_HEADERS)).text();
      const sent = asked()
        .slice(before)
        .map(({ params: given }) => JSON.stringify(given));
      const leaks = sent.flatMap((given) => [...leaksIn(given)]);
      matrix.note({
        ...{ on: 'input', route: '/mcp/code', vendor: 'mcp', stream: false, part: 'tool_arguments', action },
        ...{ tries: 1, leaks: leaks.length },
      });
      expect([leaks, sent.length]).toEqual([[], action === 'block' ? 0 : 1]);
      expect(answer).toContain(action === 'block' ? 'guardrail' : '[EMAIL]');
    });

    test.each(['redact', 'block'])('results of a script, %s', async (action) => {
      await enforce(rulesOf(action, 'output'));
      const half = PLANTED.length / 2;
      const code = `console.log(${JSON.stringify(PLANTED)}); ${JSON.stringify(PLANTED.slice(0, half))} + ${JSON.stringify(PLANTED.slice(half))}`;
      const answer = await post('/mcp/code', toolCall('execute_code', { code }), MCP_HEADERS);
      const text = await answer.text();
      const leaks = leaksIn(text);
      matrix.note({
        ...{ on: 'output', route: '/mcp/code', vendor: 'mcp', stream: false, part: 'tool_results', action },
        ...{ tries: 1, leaks: leaks.length },
      });
      expect(leaks).toEqual([]);
      expect(text).toContain(action === 'block' ? 'guardrail' : '[EMAIL]');
    });

    test.each(['redact', 'block'])('descriptions of tools, prompts and resources, %s', async (action) => {
      const schema = { type: 'object', properties: { to: { type: 'string', description: PLANTED } } };
      const telling = startMcpServer([
        { ...textTool('first', PLANTED), title: PLANTED },
        { ...textTool('second'), inputSchema: schema },
        textTool('plain'),
      ]);
      const created = await callAdmin(world().gateway, '/mcp/servers', {
        body: { approve: 'all', alias: 'telling', url: telling.url },
      });
      try {
        await enforce(rulesOf(action, 'output'));
        for (const [path, message] of [
          ['/mcp/telling', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }],
          ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }],
          ['/mcp/code', toolCall('search_tools', { query: 'first second plain telling' })],
        ] as const) {
          const text = await (await post(path, message, MCP_HEADERS)).text();
          const leaks = leaksIn(text);
          matrix.note({
            ...{ on: 'output', route: path, vendor: 'mcp', stream: false, part: 'descriptions', action },
            ...{ tries: 1, leaks: leaks.length },
          });
          expect([path, leaks]).toEqual([path, []]);
          expect(text).toContain('plain');
          expect([path, text.includes('second')]).toEqual([path, action === 'redact']);
        }
      } finally {
        await callAdmin(world().gateway, `/mcp/servers/${(created as { id: string }).id}`, { method: 'DELETE' });
        await telling.stop();
      }
    });

    test.each(['redact', 'block', 'pseudonymise'])('/mcp, %s', async (action) => {
      await enforce(rulesOf(action, 'input'));
      const before = asked().length;
      const response = await callTool({ text: PLANTED }, { _meta: { note: PLANTED } });
      const body = await response.text();
      const sent = asked()
        .slice(before)
        .map(({ params }) => JSON.stringify(params));
      const leaks = sent.flatMap((params) => [...leaksIn(params)]);
      matrix.note({
        ...{ on: 'input', route: '/mcp', vendor: 'mcp', stream: false, part: 'tool_arguments', action },
        ...{ tries: 1, leaks: leaks.length },
      });
      expect([leaks, sent.length]).toEqual([[], action === 'block' ? 0 : 1]);
      // What names stand for comes back.
      if (action === 'pseudonymise') expect(saidIn(body)).toContain('ann@example.com');
      else expect(leaksIn(body)).toEqual([]);
      if (action === 'pseudonymise') return;
      await enforce(rulesOf(action, 'output'));
      const answer = await (await callTool({ text: PLANTED })).text();
      const out = leaksIn(answer);
      matrix.note({
        ...{ on: 'output', route: '/mcp', vendor: 'mcp', stream: false, part: 'tool_results', action },
        ...{ tries: 1, leaks: out.length },
      });
      expect(out).toEqual([]);
    });
  });

  test('large requests and answers, streamed or not', async () => {
    await enforce(rulesOf('redact'));
    const filler = 'All work and no play makes Jack a dull boy. '.repeat(15_000);
    for (const stream of [false, true]) {
      world().upstream.control.enqueue({ text: `${filler}${PLANTED}`, chunks: 40 });
      const messages = [{ role: 'user', content: `${filler}${PLANTED}` }];
      const response = await post('/v1/chat/completions', { model: VENDORS.openai, stream, messages });
      const text = await response.text();
      expect([response.status, leaksIn(sentBody()), leaksIn(text)]).toEqual([200, [], []]);
      expect(sentBody()).toContain(`${filler}${REDACTED}`);
      expect(saidIn(text)).toContain(`${filler}${REDACTED}`);
    }
  }, 30_000);

  test('counting tokens, going on from a kept answer, and a caller that leaves', async () => {
    await enforce(rulesOf('redact', 'input'));
    const counted = await post('/v1/messages/count_tokens', {
      model: VENDORS.anthropic,
      ...anthropicBody('user', PLANTED),
    });
    expect([counted.status, leaksIn(sentBody())]).toEqual([200, []]);
    await enforce(rulesOf('pseudonymise'));
    world().upstream.control.enqueue({ text: 'To <EMAIL_1>.' }, { text: 'Again <EMAIL_1>.' });
    const first = (await (
      await post('/v1/responses', { model: VENDORS.openai, input: 'Write to ann@example.com.', store: true })
    ).json()) as { id: string };
    const second = await post('/v1/responses', {
      ...{ model: VENDORS.openai, input: 'Again.', previous_response_id: first.id, store: true },
    });
    expect(saidIn(await second.text())).toContain('Again ann@example.com.');
    expect(JSON.stringify(world().upstream.requests.at(-1)?.body)).toContain('<EMAIL_1>');
    expect(leaksIn(sentBody())).toEqual([]);
    world().upstream.control.reset();
    await enforce(rulesOf('redact', 'output'));
    world().upstream.control.enqueue({ text: 'word '.repeat(2000), chunks: 2000, gapMs: 2 });
    const leaving = new AbortController();
    const response = await postChat(
      world().gateway,
      apiKey(),
      { model: VENDORS.openai, stream: true, ...chatBody('unknown', '') },
      { signal: leaving.signal },
    );
    await response.body?.getReader().read();
    leaving.abort();
    await waitUntil(() => world().upstream.control.counters.cancelled === 1);
  });

  test('rows tell what was found, and never what it was', async () => {
    await enforce(rulesOf('redact'));
    const response = await post('/v1/chat/completions', { model: VENDORS.openai, ...chatBody('user', PLANTED) });
    await response.text();
    const row = await logRow(world().gateway, response.headers.get('x-request-id') ?? '');
    const marks = (row as unknown as { guardrails: JsonValue }).guardrails;
    expect(marks).toMatchObject([
      { rule: 'pii', on: 'input', part: 'user', check: 'pii', action: 'redact', count: 2 },
      { rule: 'secrets', on: 'input', part: 'user', check: 'secrets', action: 'redact', count: 1 },
    ]);
    expect(leaksIn(JSON.stringify(row))).toEqual([]);
  });
});
