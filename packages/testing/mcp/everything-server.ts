// An MCP server with all that the official conformance suite asks for, in the newest revision or the one before it.
import { askingPrompt, ROUND_TOOLS } from './everything-rounds';
import { type FixtureTool, IMAGE_PART, type Json, LEGACY_TOOLS, Refused, SHARED_TOOLS } from './everything-tools';

export type FixtureEra = '2026-07-28' | '2025-11-25';

interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Json;
  readonly result?: Json;
  readonly error?: Json;
}

export interface EverythingServer {
  readonly url: string;
  stop(): Promise<void>;
}

const INFO = { name: 'everything', version: '1.0.0' };
const PREFIX = 'io.modelcontextprotocol/';
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
};

const RESOURCES = [
  { uri: 'test://static-text', name: 'Static text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'Static binary', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'Watched resource', mimeType: 'text/plain' },
];
const TEMPLATES = [{ uriTemplate: 'test://template/{id}/data', name: 'Template', mimeType: 'application/json' }];
const PROMPTS = [
  { name: 'test_simple_prompt', description: 'Says one line' },
  {
    name: 'test_prompt_with_arguments',
    description: 'Takes two arguments',
    arguments: ['arg1', 'arg2'].map((name) => ({ name, description: name, required: true })),
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'Gives a resource',
    arguments: [{ name: 'resourceUri', description: 'Which', required: true }],
  },
  { name: 'test_prompt_with_image', description: 'Shows a picture' },
];

const user = (content: Json) => ({ messages: [{ role: 'user', content }] });

function getPrompt(params: Json): Json {
  const args = (params.arguments ?? {}) as Json;
  switch (params.name) {
    case 'test_simple_prompt':
      return user({ type: 'text', text: 'This is a simple prompt for testing.' });
    case 'test_prompt_with_arguments':
      return user({ type: 'text', text: `Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'` });
    case 'test_prompt_with_embedded_resource': {
      const resource = {
        uri: args.resourceUri,
        mimeType: 'text/plain',
        text: 'Embedded resource content for testing.',
      };
      return user({ type: 'resource', resource });
    }
    case 'test_prompt_with_image':
      return user(IMAGE_PART);
    case 'test_input_required_result_prompt':
      return askingPrompt(params);
    default:
      throw new Refused(-32602, 'There is no such prompt.');
  }
}

function readResource({ uri }: Json): Json {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(String(uri)) ?? [];
  if (id !== undefined) {
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: 'application/json', text: data }] };
  }
  switch (uri) {
    case 'test://static-text':
      return { contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }] };
    case 'test://static-binary':
      return { contents: [{ uri, mimeType: 'image/png', blob: IMAGE_PART.data }] };
    case 'test://watched-resource':
      return { contents: [{ uri, mimeType: 'text/plain', text: 'Watched resource content' }] };
    default:
      throw new Refused(-32602, 'Resource not found', { uri });
  }
}

const METHODS: Readonly<Record<string, (params: Json) => Json>> = {
  'prompts/get': getPrompt,
  'resources/list': () => ({ resources: RESOURCES }),
  'resources/templates/list': () => ({ resourceTemplates: TEMPLATES }),
  'resources/read': readResource,
  'completion/complete': () => ({ completion: { values: ['paris', 'park'], total: 2, hasMore: false } }),
};
const LEGACY_METHODS: typeof METHODS = {
  ping: () => ({}),
  'logging/setLevel': () => ({}),
  'resources/subscribe': () => ({}),
  'resources/unsubscribe': () => ({}),
  'prompts/list': () => ({ prompts: PROMPTS }),
};
const MODERN_METHODS: typeof METHODS = {
  'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: CAPABILITIES }),
  'prompts/list': () => ({
    prompts: [...PROMPTS, { name: 'test_input_required_result_prompt', description: 'Asks first' }],
  }),
};
/** Results that may be kept: lists, and what is read. */
const KEPT = /\/list$|^resources\/read$|^server\/discover$/;

export function startEverythingServer(era: FixtureEra): EverythingServer {
  const isModern = era === '2026-07-28';
  const tools = { ...SHARED_TOOLS, ...(isModern ? ROUND_TOOLS : LEGACY_TOOLS) };
  const methods = { ...METHODS, ...(isModern ? MODERN_METHODS : LEGACY_METHODS) };
  const listed = Object.entries(tools).map(([name, { description, inputSchema }]) => ({
    ...{ name, description },
    inputSchema: inputSchema ?? { type: 'object', properties: {} },
  }));
  const sessions = new Set<string>();
  const listeners = new Set<(method: string) => void>();
  const asked = new Map<string, (message: Message) => void>();

  const answer = async (message: Message, headers: Headers): Promise<Response> => {
    const { id, method = '', params = {} } = message;
    if (method === 'initialize' && !isModern) {
      const session = crypto.randomUUID();
      sessions.add(session);
      const result = { protocolVersion: era, capabilities: CAPABILITIES, serverInfo: INFO };
      return Response.json({ jsonrpc: '2.0', id, result }, { headers: { 'Mcp-Session-Id': session } });
    }
    if (!isModern && !sessions.has(headers.get('mcp-session-id') ?? ''))
      return new Response('no session', { status: 404 });
    if (method === 'tools/list') return reply(id, complete(method, { tools: listed }));
    if (method === 'tools/call') return callTool(message, tools[String(params.name)]);
    if (method === 'subscriptions/listen') return listen(message);
    const handle = methods[method];
    if (handle === undefined) return reply(id, new Refused(-32601, `There is no method ${method}.`));
    return reply(
      id,
      attempt(() => complete(method, handle(params))),
    );
  };

  /** Tells what changes until the client leaves. */
  const listen = ({ id, params = {} }: Message): Response => {
    const _meta = { [`${PREFIX}subscriptionId`]: id };
    let tell: ((method: string) => void) | undefined;
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        const send = (method: string, more: Json = {}) =>
          controller.enqueue(frame({ jsonrpc: '2.0', method, params: { ...more, _meta } }));
        send('notifications/subscriptions/acknowledged', { notifications: params.notifications });
        tell = (method) => send(method);
        listeners.add(tell);
      },
      cancel() {
        if (tell !== undefined) listeners.delete(tell);
      },
    });
    return new Response(stream, { headers: { 'Content-Type': 'text/event-stream' } });
  };

  const complete = (method: string, result: Json): Json => {
    if (!isModern) return result;
    const fresh = KEPT.test(method) ? { ttlMs: 1000, cacheScope: 'private' } : {};
    return { resultType: 'complete', ...fresh, ...result, _meta: { [`${PREFIX}serverInfo`]: INFO } };
  };

  const callTool = async (message: Message, tool: FixtureTool | undefined): Promise<Response> => {
    const { id, params = {} } = message;
    const [, kind] = /^test_trigger_(tool|prompt)_change$/.exec(String(params.name)) ?? [];
    for (const tell of kind === undefined ? [] : listeners) tell(`notifications/${kind}s/list_changed`);
    if (tool === undefined) return reply(id, new Refused(-32602, `Unknown tool: ${params.name}`));
    const meta = (params._meta ?? {}) as Json;
    const capabilities = (meta[`${PREFIX}clientCapabilities`] ?? {}) as Json;
    const context = { args: (params.arguments ?? {}) as Json, params, capabilities };
    const nobody = { notify: () => {}, ask: async () => ({}) };
    const run = (line: Pick<Parameters<FixtureTool['run']>[0], 'notify' | 'ask'>) =>
      attemptLater(async () => complete('tools/call', await tool.run({ ...context, ...line })));
    if (tool.isStream === undefined) return reply(id, await run(nobody));
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const send = (message: object) => void writer.write(frame(message));
    const ask = (method: string, params: Json) =>
      new Promise<Json>((resolve, reject) => {
        const askedId = `ask-${crypto.randomUUID()}`;
        asked.set(askedId, ({ result, error }) =>
          error ? reject(new Error(String(error.message))) : resolve(result ?? {}),
        );
        send({ jsonrpc: '2.0', id: askedId, method, params });
      });
    const notify = (method: string, params: Json) => send({ jsonrpc: '2.0', method, params });
    void run({ notify, ask }).then(async (outcome) => {
      send(body(id, outcome));
      await writer.close();
    });
    return new Response(readable, { headers: { 'Content-Type': 'text/event-stream' } });
  };

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    fetch: async (request) => {
      if (request.method === 'DELETE') return new Response(null, { status: 200 });
      if (request.method !== 'POST') return new Response(null, { status: 405 });
      const message = (await request.json()) as Message;
      if (message.method === undefined) asked.get(String(message.id))?.(message);
      if (message.method === undefined || message.id === undefined) return new Response(null, { status: 202 });
      return answer(message, request.headers);
    },
  });
  return { url: `http://127.0.0.1:${server.port}/mcp`, stop: () => server.stop(true) };
}

const frame = (message: object) => new TextEncoder().encode(`data: ${JSON.stringify(message)}\n\n`);

const body = (id: Message['id'], outcome: Json | Refused): Json => {
  if (!(outcome instanceof Refused)) return { jsonrpc: '2.0', id, result: outcome };
  const { code, message, data } = outcome;
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
};
const reply = (id: Message['id'], outcome: Json | Refused) =>
  Response.json(body(id, outcome), { status: outcome instanceof Refused && outcome.code === -32021 ? 400 : 200 });

function attempt(work: () => Json): Json | Refused {
  try {
    return work();
  } catch (error) {
    return asRefused(error);
  }
}

const attemptLater = (work: () => Promise<Json>): Promise<Json | Refused> => work().catch(asRefused);

function asRefused(error: unknown): Refused {
  return error instanceof Refused ? error : new Refused(-32603, String(error));
}
