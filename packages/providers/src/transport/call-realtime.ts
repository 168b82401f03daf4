// An unreachable, slow or refusing upstream gives one `GatewayError`; nothing of a session was billed until then.
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { TakenSlots } from '@llm0/core/routing/places/slots';
import type { ProviderConnection } from '../provider-request';
import type { RealtimePart, RealtimeTarget } from '../realtime';
import { askWithKeys } from './ask-with-keys';
import type { PinOrigin } from './egress/pinned-fetch';
import type { KeyRing } from './key-ring';
import { upstreamAnswerError, upstreamFailure } from './upstream-failure';

export type { RealtimePart, RealtimeParts, RealtimeProtocol, RealtimeReader } from '../realtime';

export interface RealtimeCall extends Omit<RealtimeTarget, 'connection'> {
  /** Named in messages. */
  readonly provider: string;
  readonly part: Pick<RealtimePart, 'endpoint'>;
  readonly connection: ProviderConnection;
  readonly keys?: KeyRing | undefined;
  readonly slots?: TakenSlots | undefined;
  /** Set for addresses that an operator gave at run time. */
  readonly pin?: PinOrigin | undefined;
  /** Of the caller. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Opens a session. It reads nothing until `resume`. */
export function openRealtime(call: RealtimeCall): Promise<Bun.WebSocket> {
  const { keys, provider, timeoutMs, slots, connection } = call;
  if (keys === undefined) return connect(call, connection, timeoutMs);
  return askWithKeys(keys, { provider, timeoutMs, slots }, (one, leftMs) => connect(call, one, leftMs));
}

async function connect(call: RealtimeCall, connection: ProviderConnection, timeoutMs: number): Promise<Bun.WebSocket> {
  const { provider, part, model, isTranscription, pin, headers } = call;
  const endpoint = part.endpoint({ connection, model, isTranscription });
  const url = new URL(endpoint.url);
  const pinned = await pin?.(url.origin.replace(/^ws/, 'http'));
  if (pinned !== undefined) url.host = new URL(pinned.url).host;
  const name = pinned?.serverName;
  const options: Bun.WebSocketOptions = {
    headers: { ...headers, ...endpoint.headers, ...(pinned === undefined ? {} : { host: pinned.host }) },
    ...(name === undefined ? {} : { tls: { serverName: name } }),
    // Each compressed connection has a window of its own.
    perMessageDeflate: false,
  };
  // Browsers' types, which know no headers, hide the runtime's.
  const socket = new WebSocket(url.href, options as unknown as string[]) as unknown as Bun.WebSocket;
  socket.pause();
  return untilOpen(socket, provider, timeoutMs);
}

/** The runtime tells the status of a refused handshake in words only. */
const REFUSED = /status code: (\d{3})/;

function untilOpen(socket: Bun.WebSocket, provider: string, timeoutMs: number): Promise<Bun.WebSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<Bun.WebSocket>();
  const timer = setTimeout(() => {
    fail(upstreamFailure('timeout', provider, `opened no session within ${Math.round(timeoutMs)} ms.`));
    socket.terminate();
  }, timeoutMs);
  const fail = (error: GatewayError) => {
    clearTimeout(timer);
    reject(error);
  };
  socket.onopen = () => {
    clearTimeout(timer);
    socket.onopen = null;
    socket.onerror = null;
    socket.onclose = null;
    resolve(socket);
  };
  socket.onerror = ({ message, error }) => {
    const status = Number(REFUSED.exec(message)?.[1]);
    if (status >= 300) fail(upstreamAnswerError({ provider, status, message: '' }));
    else fail(upstreamFailure('connection', provider, 'opened no session.', error));
  };
  socket.onclose = () => fail(upstreamFailure('connection', provider, 'opened no session.'));
  return promise;
}
