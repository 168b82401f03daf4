import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { isObject, type JsonObject } from '@llm0/core/chat/json';
import { TEST_CERTIFICATE } from '@llm0/providers/__fixtures__/certificate';
import { waitUntil } from './environment';

/** A caller of sessions, with all that it was sent. */
export class SessionClient {
  readonly events: JsonObject[] = [];
  readonly ended: Promise<{ readonly code: number; readonly reason: string; readonly atMs: number }>;
  isOpen = false;
  isClosed = false;

  constructor(readonly socket: Bun.WebSocket) {
    const ended = Promise.withResolvers<{ code: number; reason: string; atMs: number }>();
    this.ended = ended.promise;
    socket.onopen = () => {
      this.isOpen = true;
    };
    socket.onmessage = ({ data }) => {
      const event: unknown = JSON.parse(String(data));
      if (isObject(event as JsonObject)) this.events.push(event as JsonObject);
    };
    socket.onclose = ({ code, reason }) => {
      this.isClosed = true;
      ended.resolve({ code, reason, atMs: performance.now() });
    };
  }

  static async open(url: string, headers: Record<string, string>, protocols?: string[]): Promise<SessionClient> {
    const options: Bun.WebSocketOptions = protocols === undefined ? { headers } : { headers, protocols };
    const socket = new WebSocket(url.replace('http', 'ws'), options as unknown as string[]) as unknown as Bun.WebSocket;
    const client = new SessionClient(socket);
    await waitUntil(() => client.isOpen || client.isClosed);
    if (!client.isOpen) throw new Error('the session was refused');
    return client;
  }

  send(event: JsonObject): void {
    this.socket.send(JSON.stringify(event));
  }

  /** The next event of a type, from the nth one. */
  async next(type: string, nth = 1): Promise<JsonObject> {
    const found = () => this.events.filter((event) => event.type === type)[nth - 1];
    await waitUntil(() => found() !== undefined || this.isClosed);
    const event = found();
    if (event === undefined) throw new Error(`the session ended without ${type}`);
    return event;
  }

  count(type: string): number {
    return this.events.filter((event) => event.type === type).length;
  }

  leave(): void {
    this.socket.terminate();
  }
}

/** TLS in front of a gateway, as a load balancer puts it there: the official client knows nothing else. */
export async function startTlsFront(gatewayUrl: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { hostname, port } = new URL(gatewayUrl);
  const server = createServer(TEST_CERTIFICATE, (outer) => {
    const inner = connect(Number(port), hostname);
    outer.pipe(inner).pipe(outer);
    outer.on('error', () => inner.destroy());
    inner.on('error', () => outer.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as { port: number };
  return {
    url: `https://127.0.0.1:${own}`,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
