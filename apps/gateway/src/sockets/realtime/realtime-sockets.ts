import { isObject, type JsonValue, parseJson } from '@llm0/core/chat/json';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import { isSessionSecret, type StoredSecret } from '@llm0/core/realtime/realtime-secrets';
import type { ErrorEnvelope } from '../../dialects/dialect';
import { NATIVE_ERRORS } from '../../dialects/native-errors';
import { openaiChat } from '../../dialects/openai-chat/index';
import { meetCaller, openSession, type SessionCaller } from '../../pipeline/realtime/open-session';
import { invalidKey } from '../../pipeline/request/authenticate';
import { offersWebSocket } from '../../pipeline/request/refuse-websocket';
import { asGatewayError } from '../../pipeline/request/respond-error';
import type { SocketNeeds } from '../create-sockets';
import type { SocketPeer } from '../socket-peer';
import { LateSession } from './late-session';
import { type Handshake, readHandshake, type SessionPath, sessionPathOf } from './read-handshake';
import { SessionSocket } from './session-socket';
import { SessionWatch, type Watched } from './watch-sessions';

type Handle = (request: Request, server: Bun.Server<SocketPeer>) => Response | Promise<Response>;

/** A session that is wanted, and by whom. */
interface Wanted extends SessionPath, Handshake {
  readonly request: Request;
  readonly secret: StoredSecret | undefined;
}

interface Opened {
  readonly peer: SocketPeer;
  /** Of the session's row. */
  readonly requestId: string;
}

const RETRY_MS = 1000;

const envelopeOf = ({ protocol }: SessionPath): ErrorEnvelope =>
  protocol === 'bidi' ? NATIVE_ERRORS['gemini-content'] : openaiChat;

/** The sessions of this process. */
export class RealtimeSockets {
  private readonly watch: SessionWatch;
  private readonly late = new Set<LateSession>();

  constructor(private readonly needs: SocketNeeds) {
    this.watch = new SessionWatch(needs.services, this.asError);
  }

  /** Takes the WebSockets of its paths; all else goes on. */
  inFrontOf(handle: Handle): Handle {
    return (request, server) => {
      const path = offersWebSocket(request.headers) ? sessionPathOf(request) : undefined;
      return path === undefined ? handle(request, server) : this.open(path, request, server);
    };
  }

  /** Ends sessions for a shutdown, after their answers. */
  goAway(): void {
    for (const { socket } of [...this.watch.all]) socket.goAway();
    for (const late of [...this.late]) late.goAway();
  }

  private readonly asError = (cause: unknown) => asGatewayError(cause, this.needs.services.log);

  /** A refusal is an ordinary answer. */
  private async open(path: SessionPath, request: Request, server: Bun.Server<SocketPeer>): Promise<Response> {
    try {
      if (this.needs.services.openRequests.isDraining) {
        const message = 'This gateway is shutting down. Connect again.';
        throw new GatewayError('overloaded', message, { retryAfterMs: RETRY_MS });
      }
      const wanted = await this.read(path, request);
      const opened = await this.peerOf(wanted);
      if (opened instanceof Response) return opened;
      const { peer, requestId } = opened;
      const { subprotocol } = wanted;
      const headers = new Headers({ 'X-Request-Id': requestId });
      if (subprotocol !== undefined) headers.set('Sec-WebSocket-Protocol', subprotocol);
      // After an upgrade the runtime ignores the answer.
      if (server.upgrade(request, { data: peer, headers })) return new Response(null);
      peer.closed();
      throw invalidRequest('Sec-WebSocket-Key', 'The WebSocket handshake is incomplete.');
    } catch (cause) {
      return this.needs.refuse(new URL(request.url).pathname, this.asError(cause));
    }
  }

  private async read(path: SessionPath, request: Request): Promise<Wanted> {
    const handshake = readHandshake(request);
    const bearer = /^bearer\s+(\S+)\s*$/i.exec(handshake.headers.get('authorization') ?? '')?.[1] ?? '';
    const isSecret = (path.protocol === 'realtime' || path.protocol === 'translation') && isSessionSecret(bearer);
    const secret = isSecret ? await this.needs.services.realtimeSecrets.find(hashSecret(bearer)) : undefined;
    if (isSecret && secret === undefined) throw invalidKey();
    for (const [name, value] of Object.entries(secret?.headers ?? {})) handshake.headers.set(name, value);
    const isTranscription = handshake.isTranscription || secret?.session.type === 'transcription';
    const model = secret?.model ?? handshake.model;
    return { ...path, ...handshake, isTranscription, model, request, secret };
  }

  private async peerOf(wanted: Wanted): Promise<Opened | Response> {
    const { services } = this.needs;
    const { dialect, headers, request, secret } = wanted;
    const httpRequest = { headers, signal: request.signal };
    const chosen = secret && { keyHash: secret.keyHash, requestId: services.createId() };
    const caller = await meetCaller(services, { httpRequest, dialect, envelope: envelopeOf(wanted) }, chosen);
    if (caller instanceof Response) return caller;
    const isLate = wanted.protocol === 'bidi' || (wanted.isTranscription && wanted.model === '');
    const peer = isLate ? this.lateFor(caller, wanted) : await this.begin(caller, wanted);
    return peer instanceof Response ? peer : { peer, requestId: caller.ctx.requestId };
  }

  private async begin(
    caller: SessionCaller,
    wanted: Wanted,
    envelope: ErrorEnvelope = envelopeOf(wanted),
  ): Promise<SessionSocket | Response> {
    const { services } = this.needs;
    const { headers, request, protocol, dialect, model, isTranscription, secret } = wanted;
    const session = await openSession(services, caller, {
      ...{ protocol, dialect, model, isTranscription, envelope },
      httpRequest: { headers, signal: request.signal },
    });
    if (session instanceof Response) return session;
    const watched: { -readonly [K in keyof Watched]?: Watched[K] } = { keyHash: caller.principal.keyHash };
    const { projectId, runId } = { projectId: caller.principal.project.id, runId: caller.ctx.runId };
    const { signal, unwatch } = services.runs.signalFor({ projectId, runId, signal: NEVER });
    const socket = new SessionSocket({
      ...{ session, asError: this.asError, firstSettings: secret?.session },
      monotonicMs: () => services.clock.monotonicMs(),
      slowReaderMs: services.config.slowReaderTimeoutMs,
      onClose: () => {
        unwatch();
        this.watch.remove(watched as Watched);
      },
    });
    watched.socket = socket;
    signal.addEventListener('abort', () => socket.cut(this.asError(signal.reason)), { once: true });
    try {
      await socket.start();
    } catch (cause) {
      const error = this.asError(cause);
      socket.cut(error);
      throw error;
    }
    this.watch.add(watched as Watched);
    return socket;
  }

  private lateFor(caller: SessionCaller, wanted: Wanted): LateSession {
    let isOpening = false;
    const late: LateSession = new LateSession({
      open: async (first) => {
        isOpening = true;
        this.late.delete(late);
        const refusal = new NotedRefusal();
        const opened = await this.begin(caller, { ...wanted, model: modelOf(first) }, refusal);
        if (opened instanceof SessionSocket) return opened;
        throw this.asError(refusal.error);
      },
      onClose: () => {
        this.late.delete(late);
        if (!isOpening) caller.underWay.end();
      },
    });
    this.late.add(late);
    return late;
  }
}

const NEVER = new AbortController().signal;

const MODEL_PATHS = [
  ['setup', 'model'],
  ['session', 'audio', 'input', 'transcription', 'model'],
  ['session', 'input_audio_transcription', 'model'],
] as const;

/** `models/x` is how some clients write `x`. Empty: it names none. */
function modelOf(first: string): string {
  const message = parseJson(first);
  for (const path of MODEL_PATHS) {
    const found = path.reduce<JsonValue | undefined>((at, name) => (isObject(at) ? at[name] : undefined), message);
    if (typeof found === 'string') return found.replace(/^models\//, '');
  }
  return '';
}

/** Keeps a refusal for a connection that is there already: nobody reads its answer. */
class NotedRefusal implements ErrorEnvelope {
  error: GatewayError | undefined;

  encodeError(error: GatewayError): string {
    this.error = error;
    return '';
  }
}
