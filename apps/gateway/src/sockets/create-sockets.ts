// A connection belongs to one process and has no state elsewhere: clients connect again after any failure.
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { getPath } from 'hono/utils/url';
import { openaiResponses } from '../dialects/openai-responses/index';
import { partOf } from '../dialects/openai-responses/store-responses';
import type { Connections } from '../observe/readers';
import { handleChat } from '../pipeline/chat/handle-chat';
import type { StoringDialect } from '../pipeline/chat/handle-stored-responses';
import { handleWarmUp } from '../pipeline/chat/handle-warm-up';
import { authenticate, latestPrincipal } from '../pipeline/request/authenticate';
import { offersWebSocket } from '../pipeline/request/refuse-websocket';
import { asGatewayError } from '../pipeline/request/respond-error';
import type { limitFloods } from '../process/limit-floods';
import type { Services } from '../services/contract';
import { type AnswerStream, LastAnswers, TurnAnswers } from './last-answers';
import { ResponseSocket, type Turn } from './response-socket';
import type { SocketPeer } from './socket-peer';

/** Path of the WebSocket; its `POST` takes the same requests. */
const SOCKET_PATH = '/v1/responses';

const LIFETIME_MS = 60 * 60 * 1000;
/** Connections of one key in one process. */
const MAX_OF_KEY = 128;
/** Characters of all remembered conversations. */
const MAX_REMEMBERED = 128 * 1024 * 1024;
const RETRY_MS = 1000;
/** A silent client is pinged, and cut if it doesn't answer. */
const IDLE_SECONDS = 120;

/** Headers about the handshake, or about a single request. */
const OF_HANDSHAKE =
  /^(?:connection|upgrade|host|origin|sec-websocket-.*|openai-beta|idempotency-key|content-.*|transfer-encoding|expect)$/;

/** Answers may continue in the connection, stored or not. */
const DIALECT: StoringDialect = {
  ...openaiResponses,
  responseStorage: { ...openaiResponses.responseStorage, partToKeep: partOf },
};

export interface SocketNeeds {
  readonly services: Services;
  /** The limits in front of every request. */
  readonly limit: ReturnType<typeof limitFloods>;
  readonly refuse: (path: string, error: GatewayError) => Response;
}

type Handle = (request: Request, server: Bun.Server<SocketPeer>) => Response | Promise<Response>;

/** What a connection's requests have in common. */
interface Handshake {
  readonly keyId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly address: ReturnType<Connections['addressOf']>;
}

interface Opened extends Handshake {
  readonly socket: ResponseSocket;
  readonly streams: Map<string | undefined, AnswerStream>;
}

/** For the runtime, which calls the connection itself. */
export const socketHandlers = (maxBodyBytes: number): Bun.WebSocketHandler<SocketPeer> => ({
  open: (ws) => ws.data.open(ws),
  message: (ws, message) => ws.data.receive(message),
  drain: (ws) => ws.data.drain(),
  close: (ws) => ws.data.closed(),
  maxPayloadLength: maxBodyBytes,
  // Each stream waits until its last frame has left.
  backpressureLimit: 0,
  idleTimeout: IDLE_SECONDS,
});

/** The open WebSockets of this process. */
export class ResponseSockets {
  private readonly opened = new Set<Opened>();
  private readonly countOfKey = new Map<string, number>();
  private readonly byRequest = new WeakMap<Request, Opened>();
  private readonly last: LastAnswers;

  constructor(private readonly needs: SocketNeeds) {
    this.last = new LastAnswers({ ofOne: needs.services.config.maxBodyBytes, ofAll: MAX_REMEMBERED });
  }

  /** Takes the WebSockets of its path; all else goes on. */
  inFrontOf(handle: Handle): Handle {
    return (request, server) => {
      const isOffered = offersWebSocket(request.headers) && getPath(request) === SOCKET_PATH;
      return isOffered ? this.open(request, server) : handle(request, server);
    };
  }

  /** Opens a connection for a valid key; a refusal is an ordinary answer. */
  private async open(request: Request, server: Bun.Server<SocketPeer>): Promise<Response> {
    const { services, refuse } = this.needs;
    try {
      if (services.openRequests.isDraining) {
        const message = 'This gateway is shutting down. Connect again.';
        throw new GatewayError('overloaded', message, { retryAfterMs: RETRY_MS });
      }
      const { url } = request;
      const headers = Object.fromEntries([...request.headers].filter(([name]) => !OF_HANDSHAKE.test(name)));
      const address = server.requestIP(request);
      const { key } = await latestPrincipal(services, await authenticate(services, request));
      const opened = this.add({ keyId: key.id, url, headers, address });
      // After an upgrade the runtime ignores the answer.
      if (server.upgrade(request, { data: opened.socket })) return new Response(null);
      this.remove(opened);
      throw invalidRequest('Sec-WebSocket-Key', 'The WebSocket handshake is incomplete.');
    } catch (cause) {
      return refuse(SOCKET_PATH, asGatewayError(cause, services.log));
    }
  }

  /** Ends idle connections now, and others after their answers. */
  goAway(): void {
    for (const { socket } of this.opened) socket.goAway();
  }

  /** Operations on the connections of requests that came over a WebSocket; other requests are `rest`'s. */
  connections(rest: Connections): Connections {
    return {
      addressOf: (request) => this.byRequest.get(request)?.address ?? rest.addressOf(request),
      end: (request) => {
        const opened = this.byRequest.get(request);
        if (opened === undefined) rest.end(request);
        else opened.socket.cut();
      },
    };
  }

  private add(handshake: Handshake): Opened {
    const { keyId } = handshake;
    const count = this.countOfKey.get(keyId) ?? 0;
    if (count >= MAX_OF_KEY) {
      const message = `This API key has ${MAX_OF_KEY} open WebSockets, the most there can be. Close some.`;
      throw new GatewayError('rate_limit_exceeded', message, { param: 'concurrency', retryAfterMs: RETRY_MS });
    }
    this.countOfKey.set(keyId, count + 1);
    const { services } = this.needs;
    const socket = new ResponseSocket({
      answer: (turn, signal) => this.answer(opened, turn, signal),
      maxWaiting: services.config.maxBodyBytes,
      lifetimeMs: LIFETIME_MS,
      onClose: () => this.remove(opened),
      onFailure: (err) => services.log.error({ err }, 'a WebSocket failed'),
    });
    const opened: Opened = { ...handshake, socket, streams: new Map() };
    this.opened.add(opened);
    return opened;
  }

  private remove(opened: Opened): void {
    if (!this.opened.delete(opened)) return;
    const left = (this.countOfKey.get(opened.keyId) ?? 1) - 1;
    if (left === 0) this.countOfKey.delete(opened.keyId);
    else this.countOfKey.set(opened.keyId, left);
    for (const stream of opened.streams.values()) this.last.forget(stream);
  }

  /** The same as the `POST`, with the connection's headers. */
  private answer(opened: Opened, turn: Turn, signal: AbortSignal): Promise<Response> | Response {
    const { services, limit } = this.needs;
    const { body, generates, stores, streamId } = turn;
    const headers = { ...opened.headers, 'content-type': 'application/json' };
    const request = new Request(opened.url, {
      ...{ method: 'POST', body, signal },
      headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    });
    this.byRequest.set(request, opened);
    const stream: AnswerStream = opened.streams.get(streamId) ?? { connection: opened };
    opened.streams.set(streamId, stream);
    const storedResponses = new TurnAnswers({ last: this.last, stored: services.storedResponses, stream, stores });
    const handle = generates ? handleChat : handleWarmUp;
    const answer = limit((one) => handle({ ...services, storedResponses }, DIALECT, one));
    return answer(request, { requestIP: () => opened.address });
  }
}
