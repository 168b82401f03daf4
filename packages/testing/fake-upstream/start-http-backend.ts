/** What a backend under test saw of one request. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HttpBackend {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** How it answers; set by each test. */
  answer: (request: Request, seen: SeenRequest) => Response | Promise<Response>;
  /** Bytes of the body that is on its way. */
  readonly uploading: number;
  stop(): Promise<void>;
}

/** A plain HTTP service that tells what it got. */
export function startHttpBackend(): HttpBackend {
  const seen: SeenRequest[] = [];
  const world: HttpBackend & { uploading: number } = {
    url: '',
    seen,
    uploading: 0,
    answer: () => Response.json({ ok: true }),
    stop: () => server.stop(true),
  };
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    async fetch(request) {
      const url = new URL(request.url);
      const isSlow = url.searchParams.has('slow-read');
      const chunks: Uint8Array[] = [];
      world.uploading = 0;
      for await (const chunk of request.body ?? []) {
        chunks.push(chunk);
        world.uploading += chunk.byteLength;
        if (isSlow) await Bun.sleep(20);
      }
      const one: SeenRequest = {
        method: request.method,
        target: request.url.slice(request.url.indexOf('/', 8)),
        headers: Object.fromEntries(request.headers),
        body: Buffer.concat(chunks).toString(),
      };
      seen.push(one);
      return world.answer(request, one);
    },
  });
  return Object.assign(world, { url: `http://127.0.0.1:${server.port}` });
}
