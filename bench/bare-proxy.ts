// The floor every figure is compared with: Bun.serve that parses request and answer, calls upstream, and nothing else.
const upstream = process.env.UPSTREAM_URL ?? '';
const PATHS = ['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1/embeddings', '/mcp'];

const server = Bun.serve({
  port: Number(process.env.PORT ?? 0),
  hostname: '127.0.0.1',
  maxRequestBodySize: 64 * 1024 * 1024,
  routes: Object.fromEntries([
    ...PATHS.map((path) => [path, (request: Request) => pass(request, `${upstream}${path}`)] as const),
    ['/v1/audio/transcriptions', (request: Request) => passFile(request)] as const,
    ['/infer/*', (request: Request) => passPlain(request)] as const,
  ]),
});

/** What any service says: the bytes go on as they are. */
async function passPlain(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const answer = await fetch(`${upstream}${pathname}${search}`, { headers: { authorization: 'Bearer floor' } });
  return new Response(await answer.bytes(), { status: answer.status, headers: answer.headers });
}

/** A file goes on as it comes. */
function passFile(request: Request): Promise<Response> {
  const headers = { 'content-type': request.headers.get('content-type') ?? '', authorization: 'Bearer floor' };
  return fetch(`${upstream}/v1/audio/transcriptions`, { method: 'POST', headers, body: request.body });
}

async function pass(request: Request, url: string): Promise<Response> {
  const body = (await request.json()) as { stream?: boolean };
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer floor' },
    body: JSON.stringify(body),
  });
  if (body.stream !== true) return Response.json(await answer.json());
  return new Response(parseEvents(answer.body as ReadableStream<Uint8Array>), {
    headers: { 'content-type': 'text/event-stream' },
  });
}

/** Forwards the bytes and parses every event, as anything that counts tokens must. */
function parseEvents(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('data: {')) JSON.parse(line.slice(6));
      }
      controller.enqueue(value);
    },
    cancel: () => reader.cancel(),
  });
}

console.log(`ready ${server.port}`);
