import { GatewayError } from '@llm0/core/errors/gateway-error';

/**
 * True for a client that wants a WebSocket. Other upgrades (`h2c`) may be ignored. Source:
 * https://www.rfc-editor.org/rfc/rfc9110#section-7.8
 */
export function offersWebSocket(headers: Headers): boolean {
  const offered = headers.get('upgrade')?.toLowerCase().split(',') ?? [];
  return offered.some((protocol) => protocol.trim().split('/', 1)[0] === 'websocket');
}

/** Throws `invalid_request` for a WebSocket. After a 426, Codex uses HTTP at once; it retries other statuses. */
export function refuseWebSocket(headers: Headers, status: 400 | 426 = 400): void {
  if (!offersWebSocket(headers)) return;
  const message =
    'WebSockets aren\'t supported here. Send the request over HTTP; "stream": true gives server-sent events.';
  throw new GatewayError('invalid_request', message, { status });
}
