/** A vendor, backend and MCP server in a process of its own, which sends large answers as fast as they are taken. */
export interface FloodServer {
  readonly url: string;
  stop(): void;
}

/** `bytes`: of each answer's text. */
export async function startFloodServer(bytes: number): Promise<FloodServer> {
  const child = Bun.spawn([process.execPath, '--no-env-file', import.meta.path, String(bytes)], {
    ...{ env: {}, stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' },
  });
  const { value } = await child.stdout.getReader().read();
  return { url: new TextDecoder().decode(value).trim(), stop: () => child.kill() };
}

const PIECE_BYTES = 64 * 1024;
const CHUNKS = 500;
const INFO = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'flood', version: '1' },
};
const TOOLS = { tools: [{ name: 'get', description: 'get', inputSchema: { type: 'object' } }] };
const USAGE = { prompt_tokens: 10, completion_tokens: 500, total_tokens: 510 };

function serve(size: number): void {
  const text = 'x'.repeat(size);
  const named = { id: 'chatcmpl-1', created: 1, model: 'flood' };
  const chunk = (more: object) => `data: ${JSON.stringify({ ...named, object: 'chat.completion.chunk', ...more })}\n\n`;
  const delta = (content: string, finish: string | null = null) =>
    chunk({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] });
  const pieces = Array.from({ length: CHUNKS }, () => delta(text.slice(0, Math.ceil(size / CHUNKS))));
  const sse = Buffer.from(
    `${pieces.join('')}${delta('', 'stop')}${chunk({ choices: [], usage: USAGE })}data: [DONE]\n\n`,
  );
  const message = { role: 'assistant', content: text };
  const whole = {
    ...named,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: USAGE,
  };
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 255 },
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith('/raw/')) return streamed(Buffer.from(`${text}x`), 'text/plain');
      const body = (await request.json()) as {
        readonly id?: number;
        readonly method?: string;
        readonly stream?: boolean;
      };
      if (pathname === '/mcp') return answerRpc(body, text);
      return body.stream === true ? streamed(sse, 'text/event-stream') : Response.json(whole);
    },
  });
  console.log(server.url.origin);
}

function streamed(all: Uint8Array, type: string): Response {
  let at = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (at >= all.byteLength) return controller.close();
        controller.enqueue(all.slice(at, at + PIECE_BYTES));
        at += PIECE_BYTES;
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'content-type': type, 'cache-control': 'no-store' } });
}

function answerRpc({ id, method = '' }: { readonly id?: number; readonly method?: string }, text: string): Response {
  if (id === undefined) return new Response(null, { status: 202 });
  const results: Readonly<Record<string, unknown>> = {
    initialize: INFO,
    'tools/list': TOOLS,
    'tools/call': { content: [{ type: 'text', text }] },
  };
  const result = results[method];
  if (result === undefined) return Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } });
  return Response.json({ jsonrpc: '2.0', id, result });
}

if (import.meta.main) serve(Number(process.argv[2]));
