import { connect, type Socket } from 'node:net';

export interface Sent {
  /** 0: no answer came. */
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export interface SendOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON. */
  readonly body?: object | string | Uint8Array | ReadableStream<Uint8Array>;
  /** Leaves after so long. */
  readonly leaveAfterMs?: number;
}

/** How attacks talk to the gateway; what it answers is counted. */
export interface Sender {
  /** With the attacker's key, unless headers say otherwise. */
  (path: string, options?: SendOptions): Promise<Sent>;
  /** A connection for bytes that are no HTTP, or half of it. Closed when the attack is over. */
  raw(bytes: string | Uint8Array): Promise<Socket>;
}

export interface CountingSender extends Sender {
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** What was answered with 500 first. */
  readonly failed: { path?: string };
  /** Closes what was left open. */
  close(): void;
}

const DEFAULT_LEAVE_MS = 20_000;
const SHOWN_CHARACTERS = 200;
const NO_ANSWER: Sent = { status: 0, text: '', headers: new Headers() };

export function createSender(gateway: { readonly url: string }, apiKey: string): CountingSender {
  const statuses = new Map<number, number>();
  const sockets: Socket[] = [];
  const failed: { path?: string } = {};
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const send = async (path: string, options: SendOptions = {}): Promise<Sent> => {
    const { body, method = body === undefined ? 'GET' : 'POST', leaveAfterMs = DEFAULT_LEAVE_MS } = options;
    const isRaw = typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;
    try {
      const response = await fetch(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...options.headers },
        body: body === undefined || isRaw ? (body as BodyInit | undefined) : JSON.stringify(body),
        signal: AbortSignal.timeout(leaveAfterMs),
        redirect: 'manual',
        keepalive: false,
      });
      count(response.status);
      if (response.status === 500) failed.path ??= `${method} ${path.slice(0, SHOWN_CHARACTERS)}`;
      return { status: response.status, text: await readSome(response), headers: response.headers };
    } catch {
      count(0);
      return NO_ANSWER;
    }
  };
  const raw = async (bytes: string | Uint8Array): Promise<Socket> => {
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    let isCounted = false;
    socket.on('error', () => {});
    socket.on('data', (data: Buffer) => {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(data.toString('latin1', 0, 16))?.[1];
      if (status !== undefined && !isCounted) count(Number(status));
      isCounted = true;
    });
    await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
    socket.write(bytes);
    return socket;
  };
  return Object.assign(send, {
    raw,
    statuses,
    failed,
    close: () => {
      for (const socket of sockets.splice(0)) socket.destroy();
    },
  });
}

const KEPT_CHARACTERS = 100_000;

/** Reads an answer to its end, or to the break that comes instead, and keeps its beginning. */
async function readSome(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? []) {
      if (text.length < KEPT_CHARACTERS) text += decoder.decode(chunk, { stream: true });
    }
  } catch {
    return text;
  }
  return text;
}
