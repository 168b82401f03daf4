/** An MCP server of one revision before the newest, whose tools a test changes; it answers each POST with one JSON body. */
export interface McpServerUnderTest {
  readonly url: string;
  /** As they are listed; set anew whenever a test likes. */
  tools: readonly object[];
  /** Each request that came, oldest first. */
  readonly seen: { readonly method: string; readonly params: unknown; readonly headers: Headers }[];
  /** Every answer is this status where it is set. */
  failWith: number | undefined;
  /** Milliseconds until a tool answers; 0 unless set. */
  delayMs: number;
  stop(): Promise<void>;
}

interface Message {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly arguments?: unknown };
}

/** A tool that takes one text. */
export const textTool = (name: string, description = `Does ${name}.`) => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
});

export function startMcpServer(tools: readonly object[] = [textTool('echo')]): McpServerUnderTest {
  const under = {
    tools,
    seen: [] as McpServerUnderTest['seen'],
    failWith: undefined as number | undefined,
    delayMs: 0,
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      if (request.method !== 'POST') return new Response(null, { status: 405 });
      const message = (await request.json()) as Message;
      under.seen.push({ method: message.method, params: message.params, headers: request.headers });
      if (under.failWith !== undefined) return new Response('out of order', { status: under.failWith });
      if (message.id === undefined) return new Response(null, { status: 202 });
      if (message.method === 'tools/call') await Bun.sleep(under.delayMs);
      const answer = answerOf(message, under.tools);
      return Response.json({ jsonrpc: '2.0', id: message.id, ...answer });
    },
  });
  return Object.assign(under, {
    url: `http://127.0.0.1:${server.port}/mcp`,
    stop: () => server.stop(true),
  });
}

function answerOf({ method, params }: Message, tools: readonly object[]): object {
  if (method === 'initialize') {
    const serverInfo = { name: 'under-test', version: '1.2.3' };
    return { result: { protocolVersion: '2025-11-25', capabilities: { tools: {}, logging: {} }, serverInfo } };
  }
  if (method === 'tools/list') return { result: { tools } };
  if (method === 'logging/setLevel') return { result: {} };
  if (method !== 'tools/call') return { error: { code: -32601, message: 'no such method' } };
  const text = JSON.stringify({ name: params?.name, arguments: params?.arguments });
  return { result: { content: [{ type: 'text', text }] } };
}
