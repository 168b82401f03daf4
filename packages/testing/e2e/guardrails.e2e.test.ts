import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { type McpServerUnderTest, startMcpServer, textTool } from '../fake-upstream/start-mcp-server';
import { Matrix } from '../guardrails/matrix';
import { argumentsOf, CLEAN, leaksIn, PLANTED, REDACTED, readValues, saidIn } from '../guardrails/planted';
import { isAll } from '../lane';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { logRow, postChat, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const SETUP_MS = 60_000;
const VENDORS = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-haiku-4-5-20251001',
  gemini: 'gemini-2.5-flash',
  bedrock: 'bedrock/anthropic.claude-3-5-haiku-20241022-v1:0',
} as const;
type Vendor = keyof typeof VENDORS;

const CHECKS = [
  { name: 'pii', check: { type: 'pii', kinds: ['email', 'card'] } },
  { name: 'secrets', check: { type: 'secrets' } },
] as const;
const rulesOf = (action: string, on = 'both') => CHECKS.map((rule) => ({ ...rule, on, action }));

interface Route {
  readonly path: (vendor: Vendor, stream: boolean) => string;
  readonly vendors: readonly Vendor[];
  body(model: string, content: JsonObject, stream: boolean): JsonObject;
}

/** A conversation that says something in one part of it. */
type Part = 'system' | 'user' | 'assistant' | 'tool_arguments' | 'tool_results' | 'unknown';

const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } };

/** Chat Completions: messages of which `part` says `text`. */
function chatMessages(part: Part, text: string): JsonObject[] {
  const call = (args: string) => ({ id: 'call_1', type: 'function', function: { name: 'look', arguments: args } });
  return [
    { role: 'system', content: part === 'system' ? text : 'Be brief.' },
    { role: 'user', content: part === 'user' ? [{ type: 'text', text }] : 'Hello.' },
    {
      role: 'assistant',
      content: part === 'assistant' ? text : 'Looking.',
      tool_calls: [call(part === 'tool_arguments' ? argumentsOf(text) : '{}')],
    },
    { role: 'tool', tool_call_id: 'call_1', content: part === 'tool_results' ? argumentsOf(text) : 'Nothing.' },
    { role: 'user', content: 'Go on.' },
  ];
}

function anthropicBody(part: Part, text: string): JsonObject {
  const input: JsonObject = part === 'tool_arguments' ? { text, more: { list: [text] } } : {};
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: part === 'tool_results' ? text : 'Nothing.' };
  return {
    system: part === 'system' ? text : 'Be brief.',
    messages: [
      { role: 'user', content: part === 'user' ? text : 'Hello.' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: part === 'assistant' ? text : 'Looking.' },
          { type: 'tool_use', id: 'toolu_1', name: 'look', input },
        ],
      },
      { role: 'user', content: [result] },
    ],
    tools: [{ name: 'look', description: 'Looks.', input_schema: tool.parameters }],
  };
}

function responsesBody(part: Part, text: string): JsonObject {
  return {
    instructions: part === 'system' ? text : 'Be brief.',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: part === 'user' ? text : 'Hello.' }] },
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: part === 'assistant' ? text : 'Looking.' }],
      },
      {
        type: 'function_call',
        call_id: 'call_1',
        name: 'look',
        arguments: part === 'tool_arguments' ? argumentsOf(text) : '{}',
      },
      { type: 'function_call_output', call_id: 'call_1', output: part === 'tool_results' ? argumentsOf(text) : 'No.' },
    ],
    tools: [{ type: 'function', ...tool }],
  };
}

function geminiBody(part: Part, text: string): JsonObject {
  const args: JsonObject = part === 'tool_arguments' ? { text } : {};
  return {
    systemInstruction: { parts: [{ text: part === 'system' ? text : 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ text: part === 'user' ? text : 'Hello.' }] },
      {
        role: 'model',
        parts: [{ text: part === 'assistant' ? text : 'Looking.' }, { functionCall: { name: 'look', args } }],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { name: 'look', response: { out: part === 'tool_results' ? text : 'No.' } } }],
      },
    ],
  };
}

const ALL_VENDORS = Object.keys(VENDORS) as Vendor[];
const ROUTES: Readonly<Record<string, Route>> = {
  '/v1/chat/completions': {
    path: () => '/v1/chat/completions',
    vendors: ALL_VENDORS,
    body: (model, content, stream) => ({ model, stream, ...content }),
  },
  '/v1/messages': {
    path: () => '/v1/messages',
    vendors: ALL_VENDORS,
    body: (model, content, stream) => ({ model, stream, max_tokens: 4000, ...content }),
  },
  '/v1/responses': {
    path: () => '/v1/responses',
    vendors: ALL_VENDORS,
    body: (model, content, stream) => ({ model, stream, ...content }),
  },
  '/v1beta/models': {
    path: (vendor, stream) =>
      `/v1beta/models/${VENDORS[vendor]}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    vendors: ['gemini'],
    body: (_model, content) => content,
  },
  '/passthrough/openai': {
    path: () => '/passthrough/openai/v1/chat/completions',
    vendors: ['openai'],
    body: (model, content, stream) => ({ model, stream, ...content }),
  },
  '/passthrough/anthropic': {
    path: () => '/passthrough/anthropic/v1/messages',
    vendors: ['anthropic'],
    body: (model, content, stream) => ({ model, stream, max_tokens: 4000, ...content }),
  },
};
const BODIES: Readonly<Record<string, (part: Part, text: string) => JsonObject>> = {
  '/v1/chat/completions': chatBody,
  '/v1/messages': anthropicBody,
  '/v1/responses': responsesBody,
  '/v1beta/models': geminiBody,
  '/passthrough/openai': chatBody,
  '/passthrough/anthropic': anthropicBody,
};
const PARTS: readonly Part[] = ['system', 'user', 'assistant', 'tool_arguments', 'tool_results', 'unknown'];

function chatBody(part: Part, text: string): JsonObject {
  return { messages: chatMessages(part, text), tools: [{ type: 'function', function: tool }] };
}

const withUnknown = (body: JsonObject, part: Part, text: string): JsonObject =>
  part === 'unknown' ? { ...body, metadata: { note: text }, x_unknown: [{ deep: { [text]: text } }] } : body;

describe('guardrails cannot be walked around', () => {
  let world: TestEnvironment;
  let tools: McpServerUnderTest;
  let projectId: string;
  let apiKey: string;
  const matrix = new Matrix();

  const setPolicy = (policy: object) =>
    callAdmin(world.gateway, `/projects/${projectId}/guardrails`, { method: 'PUT', body: policy });
  const enforce = (rules: readonly object[], more: object = {}) => setPolicy({ mode: 'enforce', rules, ...more });
  const post = (path: string, body: JsonObject, headers: Record<string, string> = {}) =>
    fetch(`${world.gateway.url}${path}`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'x-llm0-cache': 'off' },
        ...{ 'anthropic-version': '2023-06-01', 'x-llm0-drop-params': 'true', ...headers },
      },
      body: JSON.stringify(body),
    });

  beforeAll(async () => {
    world = await shareEnvironment({
      kind: 'real',
      env: { LLM0_TEST_FAILURES_PER_SECOND: '1000000' },
    });
    tools = startMcpServer([textTool('echo')]);
    const project = { passthrough: ['openai', 'anthropic', 'gemini'], allowed_tools: ['*'], code_mode: true };
    ({ apiKey, projectId } = await createTestKey(world.gateway, { project }));
    await callAdmin(world.gateway, '/mcp/servers', { body: { approve: 'all', alias: 'web', url: tools.url } });
  }, SETUP_MS);
  afterAll(async () => {
    matrix.write();
    await tools.stop();
    await world.close();
  }, SETUP_MS);
  afterEach(() => world.upstream.control.reset());

  const sentBody = () => JSON.stringify(world.upstream.requests.at(-1)?.body ?? null);

  describe.each(['redact', 'block', 'pseudonymise'])('input, %s', (action) => {
    beforeAll(() => enforce(rulesOf(action, 'input')));

    const cells = Object.entries(ROUTES).flatMap(([route, { vendors }]) =>
      vendors.map((vendor) => ({ route, vendor })),
    );
    test.each(cells)('$route to $vendor', async ({ route, vendor }) => {
      for (const part of PARTS) {
        const { path, body } = ROUTES[route] as Route;
        const content = withUnknown(BODIES[route]?.(part, PLANTED) ?? {}, part, PLANTED);
        const before = world.upstream.requests.length;
        const response = await post(path(vendor, false), body(VENDORS[vendor], content, false));
        const answer = await response.text();
        const wasSent = world.upstream.requests.length > before;
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

  const OUTPUT_PARTS = {
    assistant: (text: string): FakeBehaviour => ({ text }),
    reasoning: (text: string): FakeBehaviour => ({ reasoning: text, text: 'Done.' }),
    refusal: (text: string): FakeBehaviour => ({ refusal: text }),
    tool_arguments: (text: string): FakeBehaviour => ({
      toolCalls: [{ name: 'look', arguments: argumentsOf(text) }],
    }),
  } as const;
  type OutputPart = keyof typeof OUTPUT_PARTS;

  /** All ways in which an answer is cut: by pieces of events, and byte by byte on the wire. */
  function cutsOf(part: OutputPart): readonly FakeBehaviour[] {
    if (part === 'assistant' || part === 'refusal') {
      return [1, 2, 3, 5, 9, 20, PLANTED.length].map((chunks) => ({ chunks, byteByByte: chunks === 20 }));
    }
    const length = part === 'reasoning' ? PLANTED.length : argumentsOf(PLANTED).length;
    const all = Array.from({ length: length - 1 }, (_, index) => ({ cutAt: index + 1, byteByByte: index % 50 === 7 }));
    return isAll ? all : all.filter((_, index) => index % 10 === 7);
  }

  describe.each(['redact', 'block'])('output, %s', (action) => {
    beforeAll(() => enforce(rulesOf(action, 'output')));

    const cells = Object.entries(ROUTES).flatMap(([route, { vendors }]) =>
      vendors.flatMap((vendor) => [false, true].map((stream) => ({ route, vendor, stream }))),
    );
    test.each(cells)(
      '$route from $vendor, stream: $stream',
      async ({ route, vendor, stream }) => {
        for (const part of Object.keys(OUTPUT_PARTS) as OutputPart[]) {
          const { path, body } = ROUTES[route] as Route;
          const leaks: string[] = [];
          const cuts = stream ? cutsOf(part) : [{}];
          for (const cut of cuts) {
            world.upstream.control.enqueue({ ...OUTPUT_PARTS[part](PLANTED), ...cut });
            const content = BODIES[route]?.('unknown', '') ?? {};
            const response = await post(path(vendor, stream), body(VENDORS[vendor], content, stream));
            const text = await response.text();
            leaks.push(...leaksIn(text));
            if (action === 'block' && part === 'assistant') expect(text).toContain('guardrail_blocked');
            if (action === 'redact' && part === 'assistant') expect(saidIn(text)).toContain(REDACTED);
            if (action === 'redact' && part === 'tool_arguments') expect(saidIn(text)).toContain(REDACTED);
          }
          matrix.note({ on: 'output', route, vendor, stream, part, action, tries: cuts.length, leaks: leaks.length });
          expect([part, [...new Set(leaks)]]).toEqual([part, []]);
        }
      },
      60_000,
    );
  });

  describe('clean texts', () => {
    test.each([...ALL_VENDORS])('arrive to the byte, in and out, with %s', async (vendor) => {
      const texts = async () => {
        const sent: string[] = [];
        const got: string[] = [];
        for (const stream of [false, true]) {
          world.upstream.control.enqueue({ text: CLEAN, chunks: 7 });
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
        const before = world.upstream.requests.length;
        const response = await post(route, body as unknown as JsonObject);
        const text = await response.text();
        const wasSent = world.upstream.requests.length > before;
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
          world.upstream.control.enqueue({ text: PLANTED, chunks });
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
      const before = world.upstream.requests.length;
      const response = await post(path, body, headers);
      expect(response.status).toBe(action === 'block' ? 400 : 200);
      const sent = world.upstream.requests.slice(before).map((one) => JSON.stringify(one.headers));
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
      const created = await callAdmin(world.gateway, '/mcp/servers', {
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
        await callAdmin(world.gateway, `/mcp/servers/${(created as { id: string }).id}`, { method: 'DELETE' });
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
      world.upstream.control.enqueue({ text: `${filler}${PLANTED}`, chunks: 40 });
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
    world.upstream.control.enqueue({ text: 'To <EMAIL_1>.' }, { text: 'Again <EMAIL_1>.' });
    const first = (await (
      await post('/v1/responses', { model: VENDORS.openai, input: 'Write to ann@example.com.', store: true })
    ).json()) as { id: string };
    const second = await post('/v1/responses', {
      ...{ model: VENDORS.openai, input: 'Again.', previous_response_id: first.id, store: true },
    });
    expect(saidIn(await second.text())).toContain('Again ann@example.com.');
    expect(JSON.stringify(world.upstream.requests.at(-1)?.body)).toContain('<EMAIL_1>');
    expect(leaksIn(sentBody())).toEqual([]);
    world.upstream.control.reset();
    await enforce(rulesOf('redact', 'output'));
    world.upstream.control.enqueue({ text: 'word '.repeat(2000), chunks: 2000, gapMs: 2 });
    const leaving = new AbortController();
    const response = await postChat(
      world.gateway,
      apiKey,
      { model: VENDORS.openai, stream: true, ...chatBody('unknown', '') },
      { signal: leaving.signal },
    );
    await response.body?.getReader().read();
    leaving.abort();
    await waitUntil(() => world.upstream.control.counters.cancelled === 1);
  });

  describe('pseudonyms', () => {
    const NAMES = rulesOf('pseudonymise');
    const said = (response: Response) => response.text().then((text) => saidIn(text));

    test.each([...ALL_VENDORS])('come back in texts and arguments of %s, streamed or not', async (vendor) => {
      await enforce(NAMES);
      for (const stream of [false, true]) {
        for (let cutAt = 1; cutAt < 12; cutAt += 3) {
          world.upstream.control.enqueue(
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
        world.upstream.control.enqueue({ text: 'Noted.' });
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
      const other = await hostGateway({ env: world.env });
      try {
        world.upstream.control.enqueue({ text: 'To <EMAIL_1> and <EMAIL_2>.' });
        const text = `ann@example.com, bob@example.com ${crypto.randomUUID().slice(0, 8)}`;
        const body = { model: VENDORS.openai, messages: [{ role: 'user', content: text }] };
        const headers = { 'x-llm0-cache': 'on' };
        const first = await said(await post('/v1/chat/completions', body, headers));
        const hit = await postChat(other, apiKey, body, { headers: { 'x-llm0-drop-params': 'true' } });
        expect([hit.headers.get('x-cache-hit'), await said(hit)]).toEqual([
          'exact',
          expect.stringContaining('To ann@example.com and bob@example.com.'),
        ]);
        expect(first).toContain('To ann@example.com and bob@example.com.');
      } finally {
        await other.stop();
      }
    }, 30_000);

    test('survive a failover', async () => {
      await enforce(NAMES);
      world.upstream.control.setModel(VENDORS.openai, { status: 529 });
      world.upstream.control.setDefault({ text: 'To <EMAIL_1>.' });
      const body = { model: VENDORS.openai, messages: [{ role: 'user', content: 'ann@example.com' }] };
      const response = await post('/v1/chat/completions', body);
      expect([response.headers.get('x-failover'), await said(response)]).toEqual([
        'true',
        expect.stringContaining('To ann@example.com.'),
      ]);
      expect(world.upstream.requests.map((request) => leaksIn(JSON.stringify(request.body)))).not.toContainEqual(
        expect.arrayContaining([expect.any(String)]),
      );
    });
  });

  describe.each([true, false])('hedging and failover, streamed: %p', (stream) => {
    const alias = `hedged-${stream}`;
    const asked = { model: alias, stream, messages: [{ role: 'user', content: 'Write to ann@example.com.' }] };
    const setModel = (vendor: Vendor, behaviour: FakeBehaviour) =>
      world.upstream.control.setModel(VENDORS[vendor], behaviour);
    const rowOf = async (response: Response) => logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    beforeAll(async () => {
      const targets = [
        { provider: 'openai', model: VENDORS.openai },
        { provider: 'anthropic', model: VENDORS.anthropic },
      ];
      await callAdmin(world.gateway, '/aliases', { body: { alias, targets, hedge_after_ms: 100 } });
    });

    test('fallback answers are checked too, and a block stops all attempts', async () => {
      await enforce(rulesOf('block', 'output'));
      setModel('openai', { hang: true });
      setModel('anthropic', { text: `${PLANTED} ${'more '.repeat(2000)}`, chunks: 2000, gapMs: stream ? 2 : 0 });
      const response = await post('/v1/chat/completions', asked);
      const text = await response.text();
      expect([text.includes('guardrail_blocked'), leaksIn(text)]).toEqual([true, []]);
      await waitUntil(() => world.upstream.control.counters.cancelled === (stream ? 2 : 1));
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
        world.upstream.control.reset();
        setModel('openai', first);
        setModel('anthropic', answers);
        const response = await post('/v1/chat/completions', asked);
        expect(saidIn(await response.text())).toContain('To ann@example.com, not <EMAIL_2>.');
        const sent = world.upstream.requests.map((request) => JSON.stringify(request.body));
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

  test('rows tell what was found, and never what it was', async () => {
    await enforce(rulesOf('redact'));
    const response = await post('/v1/chat/completions', { model: VENDORS.openai, ...chatBody('user', PLANTED) });
    await response.text();
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    const marks = (row as unknown as { guardrails: JsonValue }).guardrails;
    expect(marks).toMatchObject([
      { rule: 'pii', on: 'input', part: 'user', check: 'pii', action: 'redact', count: 2 },
      { rule: 'secrets', on: 'input', part: 'user', check: 'secrets', action: 'redact', count: 1 },
    ]);
    expect(leaksIn(JSON.stringify(row))).toEqual([]);
  });

  test('a blocked stream cancels the vendor', async () => {
    await enforce(rulesOf('block', 'output'));
    world.upstream.control.enqueue({ text: `${PLANTED} ${'more '.repeat(2000)}`, chunks: 2000, gapMs: 2 });
    const body = { model: VENDORS.openai, stream: true, ...chatBody('unknown', '') };
    const text = await (await post('/v1/chat/completions', body)).text();
    expect(text).toContain('guardrail_blocked');
    expect(text).not.toContain('[DONE]');
    await waitUntil(() => world.upstream.control.counters.cancelled === 1);
  });
});
