// An MCP server from memory: `echo` answers at once, `wait` after 50 ms.
const WAIT_MS = 50;

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly name?: string };
}

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
const tools = ['echo', 'wait'].map((name) => ({ name, description: `Does ${name}.`, inputSchema }));
const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'bench', version: '1' },
  },
  'tools/list': { tools },
  'tools/call': {
    content: [{ type: 'text', text: 'Some text as tools answer it, of about a hundred letters, no more than that.' }],
  },
};

const server = Bun.serve({
  port: Number(process.env.PORT ?? 0),
  hostname: '127.0.0.1',
  fetch: async (request) => {
    if (request.method !== 'POST') return new Response(null, { status: 405 });
    const { id, method, params } = (await request.json()) as Message;
    if (id === undefined) return new Response(null, { status: 202 });
    if (params?.name?.endsWith('wait') === true) await Bun.sleep(WAIT_MS);
    const result = RESULTS[method];
    if (result !== undefined) return Response.json({ jsonrpc: '2.0', id, result });
    return Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'There is no such method.' } });
  },
});

console.log(`ready ${server.port}`);

export {};
