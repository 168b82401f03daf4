import type { Socket } from 'node:net';
import type { JsonObject } from '@llm0/core/chat/json';

/** What the gateway sent to the vendor, read whole. */
export interface VendorCall {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: JsonObject;
  /** The body as it came, its beginning. */
  readonly text: string;
}

const KEPT_BYTES = 100_000;

const LINE_END = '\r\n';
const HEAD_END = Buffer.from('\r\n\r\n');

/** One connection on the vendor's side, down to the bytes: an HTTP library would not tell the lies wanted here. */
export class HostileWire {
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
  isClosed = false;

  constructor(private readonly socket: Socket) {
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.isClosed = true;
        resolve();
      });
    });
    socket.on('error', () => {});
  }

  /** Resolves when the connection takes more, or is gone. */
  async send(bytes: string | Uint8Array): Promise<void> {
    if (this.isClosed || this.socket.write(bytes)) return;
    await Promise.race([new Promise((resolve) => this.socket.once('drain', resolve)), this.closed]);
  }

  /** A status line and headers; without a length the body goes on until the connection ends. */
  head(status: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const lines = Object.entries({ connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}`);
    return this.send([`HTTP/1.1 ${status}`, ...lines, '', ''].join(LINE_END));
  }

  /** A whole answer. */
  async answer(status: string, headers: Readonly<Record<string, string>>, body: string | Uint8Array): Promise<void> {
    const bytes = Buffer.from(body as string);
    await this.head(status, { 'content-type': 'application/json', 'content-length': `${bytes.length}`, ...headers });
    await this.send(bytes);
    this.end();
  }

  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** Reads requests off a connection; `onCall` is called for the first one only, as every answer closes its connection. */
export function readCall(socket: Socket, onCall: (call: VendorCall) => void): void {
  let parts: Buffer[] = [];
  let size = 0;
  let head: { readonly text: string; readonly bodyAt: number } | undefined;
  let isDone = false;
  socket.on('data', (chunk: Buffer) => {
    if (isDone) return;
    parts.push(chunk);
    size += chunk.length;
    if (head === undefined) {
      const all = Buffer.concat(parts);
      parts = [all];
      const end = all.indexOf(HEAD_END);
      if (end < 0) return;
      head = { text: all.toString('latin1', 0, end), bodyAt: end + HEAD_END.length };
    }
    const call = completeCall(head, parts, size);
    if (call === undefined) return;
    isDone = true;
    parts = [];
    onCall(call);
  });
}

function completeCall(
  { text, bodyAt }: { readonly text: string; readonly bodyAt: number },
  parts: Buffer[],
  size: number,
): VendorCall | undefined {
  const [first = '', ...lines] = text.split(LINE_END);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const isChunked = headers.get('transfer-encoding') === 'chunked';
  if (!isChunked && size < bodyAt + Number(headers.get('content-length') ?? 0)) return undefined;
  const bytes = Buffer.concat(parts).subarray(bodyAt);
  if (isChunked && !bytes.subarray(-5).equals(Buffer.from('0\r\n\r\n'))) return undefined;
  const [method = '', path = ''] = first.split(' ');
  const body = isChunked ? joinChunks(bytes) : bytes;
  return { method, path, headers, body: readJson(body), text: body.toString('utf8', 0, KEPT_BYTES) };
}

function joinChunks(bytes: Buffer): Buffer {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf(LINE_END, at);
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (!(length > 0)) break;
    found.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
  return Buffer.concat(found);
}

function readJson(bytes: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
