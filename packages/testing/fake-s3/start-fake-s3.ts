import { gunzipSync } from 'node:zlib';

/** A bucket service in memory: objects, whole and in parts. */
export interface FakeS3 {
  readonly url: string;
  /** Complete objects by bucket and key. */
  readonly objects: Map<string, Uint8Array>;
  /** Answers 503 to everything. */
  away: boolean;
  stop(): Promise<void>;
}

export function startFakeS3(): FakeS3 {
  const objects = new Map<string, Uint8Array>();
  const uploads = new Map<string, Map<number, Uint8Array>>();
  const state = { away: false };
  const xml = (body: string) =>
    new Response(`<?xml version="1.0"?>${body}`, { headers: { 'content-type': 'application/xml' } });

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const path = decodeURIComponent(pathname.slice(1));
    const body = new Uint8Array(await request.arrayBuffer());
    if (state.away) return new Response('<Error><Code>SlowDown</Code><Message>away</Message></Error>', { status: 503 });
    const id = searchParams.get('uploadId') ?? '';
    const parts = uploads.get(id);
    const etag = { etag: `"${Bun.hash(body).toString(16)}"` };
    if (request.method === 'POST' && searchParams.has('uploads')) {
      const uploadId = crypto.randomUUID();
      uploads.set(uploadId, new Map());
      return xml(`<InitiateMultipartUploadResult><UploadId>${uploadId}</UploadId></InitiateMultipartUploadResult>`);
    }
    if (request.method === 'PUT' && id !== '') {
      parts?.set(Number(searchParams.get('partNumber')), body);
      return new Response(null, { status: parts === undefined ? 404 : 200, headers: etag });
    }
    if (request.method === 'PUT') {
      objects.set(path, body);
      return new Response(null, { headers: etag });
    }
    if (request.method === 'POST' && parts !== undefined) {
      const inOrder = [...parts].sort(([a], [b]) => a - b).map(([, bytes]) => bytes);
      objects.set(path, new Uint8Array(Buffer.concat(inOrder)));
      uploads.delete(id);
      return xml('<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>');
    }
    const known = objects.get(path);
    if (known !== undefined && (request.method === 'GET' || request.method === 'HEAD')) {
      return sendObject(known, request.headers.get('range'), etag);
    }
    if (request.method === 'DELETE') {
      if (id === '') objects.delete(path);
      uploads.delete(id);
      return new Response(null, { status: 204 });
    }
    return new Response(null, { status: 404 });
  }

  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
  return Object.assign(state, {
    url: `http://127.0.0.1:${server.port}`,
    objects,
    stop: () => server.stop(true),
  });
}

/** All of an object, or the part that is asked for. */
function sendObject(object: Uint8Array, range: string | null, headers: Record<string, string>): Response {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
  if (from === undefined) return new Response(Buffer.from(object), { headers });
  const end = to === undefined || to === '' ? object.byteLength : Number(to) + 1;
  const part = Buffer.from(object.subarray(Number(from), end));
  const shown = `bytes ${from}-${Number(from) + part.byteLength - 1}/${object.byteLength}`;
  return new Response(part, { status: 206, headers: { ...headers, 'content-range': shown } });
}

/** The JSON lines of an object. */
export function linesOf(object: Uint8Array): Record<string, unknown>[] {
  // Bun's own stops after the first member.
  const text = gunzipSync(object).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
