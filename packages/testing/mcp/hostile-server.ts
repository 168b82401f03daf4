// MCP servers that mean harm, or have lost their mind: each path of one program has a manner of its own.

export type Manner = keyof typeof MANNERS;

export interface HostileServer {
  /** The address of the server that behaves so. */
  readonly urlOf: (manner: Manner) => string;
  /** Calls of tools whose connection is open. */
  readonly openCalls: () => number;
  /** Ids of calls that were cancelled by a notification. */
  readonly cancelled: readonly unknown[];
  stop(): Promise<void>;
}

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly cursor?: string; readonly requestId?: unknown };
}

type Answer = (message: Message, request: Request) => Response | Promise<Response>;

/** How a manner differs from a good server. */
interface Manners {
  readonly all?: Answer;
  readonly list?: Answer;
  readonly call?: Answer;
}

const MIB = 1024 * 1024;
const tool = (name: unknown, description: unknown = 'A tool.') => ({
  ...{ name, description },
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
});
const result = ({ id }: Message, value: object) => Response.json({ jsonrpc: '2.0', id, result: value });
const text = (message: Message, said: string) => result(message, { content: [{ type: 'text', text: said }] });
const encode = (value: string) => new TextEncoder().encode(value);
let lists = 0;

/** A body of chunks that somebody asks for; null ends it. */
function streamOf(next: (n: number) => Promise<string | null> | string | null, type: string): Response {
  let n = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await next(n++);
      if (chunk === null) controller.close();
      else controller.enqueue(encode(chunk));
    },
  });
  return new Response(body, { headers: { 'Content-Type': type } });
}

/** A result whose text has so many MiB, sent piece by piece. */
const large = (id: Message['id'], mib: number, type: 'application/json' | 'text/event-stream') => {
  const data = type === 'text/event-stream' ? 'data: ' : '';
  const head = `${data}{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`;
  const piece = 'x'.repeat(MIB);
  return streamOf((n) => (n === 0 ? head : n <= mib ? piece : n === mib + 1 ? '"}]}}\n\n' : null), type);
};

const nested = (id: Message['id']) => {
  const depth = 200_000;
  const body = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":${'['.repeat(depth)}${']'.repeat(depth)}}}`;
  return new Response(body, { headers: { 'Content-Type': 'application/json' } });
};

/** Names that break something somewhere, and some that must not meet. */
export const ODD_NAMES = [
  ...Array.from({ length: 128 }, (_, code) => `odd${String.fromCharCode(code)}name`),
  ...['a__b', 'a_b', 'a/b', 'a.b', 'a-b', '__proto__', 'constructor', 'ünïcode', '\u202ereversed', '💥', '', ' '],
  ...['x'.repeat(129), 'x'.repeat(128), 'A__B', null, 5, ['a'], { a: 1 }],
];

const MANNERS = {
  good: {},
  'endless-list': { list: (message) => result(message, { tools: [tool('a')], nextCursor: crypto.randomUUID() }) },
  'same-page': { list: (message) => result(message, { tools: [tool('a')], nextCursor: 'again' }) },
  'too-many': {
    list: (message) => result(message, { tools: Array.from({ length: 100_000 }, (_, n) => tool(`tool-${n}`)) }),
  },
  'huge-list': { list: ({ id }) => large(id, 100, 'application/json') },
  'deep-list': { list: ({ id }) => nested(id) },
  'no-list': { list: (message) => result(message, { tools: 'none' }) },
  'not-json': { all: () => new Response('<html>hello</html>') },
  silent: { all: () => new Promise<Response>(() => {}) },
  redirect: { all: () => Response.redirect('http://169.254.169.254/latest/meta-data/', 307) },
  'redirect-calls': { call: () => Response.redirect('http://169.254.169.254/latest/meta-data/', 307) },
  changing: {
    list: (message) => {
      lists += 1;
      return result(message, { tools: [tool('a', `Version ${lists}.`), tool('b')], ttlMs: 0 });
    },
  },
  'odd-names': { list: (message) => result(message, { tools: ODD_NAMES.map((name) => tool(name)) }) },
  'same-names': {
    list: (message) => result(message, { tools: [tool('a', 'The first.'), tool('a', 'The second.'), tool('b', 5)] }),
  },
  'huge-result': { call: ({ id }) => large(id, 100, 'application/json') },
  'huge-event': { call: ({ id }) => large(id, 100, 'text/event-stream') },
  'deep-result': { call: ({ id }) => nested(id) },
  'wrong-id': { call: (message) => text({ ...message, id: 'of somebody else' }, 'not yours') },
  'id-first': {
    call: ({ id }) => Response.json({ result: { content: [{ type: 'text', text: id }] }, jsonrpc: '2.0', id }),
  },
  'escaped-id': {
    call: ({ id }) => {
      const escaped = `\\u${String(id).charCodeAt(0).toString(16).padStart(4, '0')}${String(id).slice(1)}`;
      const body = `{"jsonrpc":"2.0","id":"${escaped}","result":{"content":[{"type":"text","text":"escaped"}]}}`;
      return new Response(body, { headers: { 'Content-Type': 'application/json' } });
    },
  },
  dripping: {
    call: async ({ id }) =>
      streamOf(async (n) => {
        await Bun.sleep(20);
        return n === 0 ? `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"a":"` : 'x';
      }, 'application/json'),
  },
  'endless-events': {
    call: () =>
      streamOf(async () => {
        await Bun.sleep(0);
        const params = { progressToken: 1, progress: 1, message: 'x'.repeat(10_000) };
        return `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`;
      }, 'text/event-stream'),
  },
  hanging: { call: () => new Promise<Response>(() => {}) },
} as const satisfies Record<string, Manners>;

export function startHostileServer(): HostileServer {
  const cancelled: unknown[] = [];
  let openCalls = 0;
  const answer = (manners: Manners, message: Message, request: Request): Response | Promise<Response> => {
    if (manners.all !== undefined) return manners.all(message, request);
    if (message.method === 'notifications/cancelled') cancelled.push(message.params?.requestId);
    if (message.id === undefined) return new Response(null, { status: 202 });
    if (message.method === 'initialize') {
      const serverInfo = { name: 'hostile', version: '1' };
      return result(message, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
    }
    if (message.method === 'tools/list') {
      return manners.list?.(message, request) ?? result(message, { tools: [tool('a')] });
    }
    if (message.method === 'tools/call') {
      openCalls += 1;
      request.signal.addEventListener('abort', () => (openCalls -= 1), { once: true });
      return manners.call?.(message, request) ?? text(message, `called ${message.params?.name}`);
    }
    return Response.json({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no such method' } });
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 120,
    fetch: async (request) => {
      if (request.method !== 'POST') return new Response(null, { status: 405 });
      const manner = new URL(request.url).pathname.slice(1) as Manner;
      return answer(MANNERS[manner], (await request.json()) as Message, request);
    },
  });
  return {
    urlOf: (manner) => `http://127.0.0.1:${server.port}/${manner}`,
    openCalls: () => openCalls,
    cancelled,
    stop: () => server.stop(true),
  };
}
