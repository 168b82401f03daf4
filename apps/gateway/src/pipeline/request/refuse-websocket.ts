import { GatewayError } from '@llm0/core/errors/gateway-error';

/**
 * Throws `invalid_request` for a WebSocket. With 426 Codex goes on by HTTP at once; other statuses it tries again. A server may
 * ignore any other offer to change the protocol (`h2c` of Java's client). Source: https://www.rfc-editor.org/rfc/rfc9110#section-7.8
 */
export function refuseWebSocket(headers: Headers, status: 400 | 426 = 400): void {
  const offered = headers.get('upgrade')?.toLowerCase().split(',') ?? [];
  if (!offered.some((protocol) => protocol.trim().split('/', 1)[0] === 'websocket')) return;
  const message =
    'WebSockets aren\'t supported here. Send the request over HTTP; "stream": true gives server-sent events.';
  throw new GatewayError('invalid_request', message, { status });
}
