import { GatewayError } from '@llm0/core/errors/gateway-error';

/**
 * Throws `invalid_request` for a WebSocket. Any other offer to change the protocol (`h2c` of Java's client) is one that a server may
 * ignore. Source: https://www.rfc-editor.org/rfc/rfc9110#section-7.8
 */
export function refuseWebSocket(headers: Headers): void {
  const offered = headers.get('upgrade')?.toLowerCase().split(',') ?? [];
  if (!offered.some((protocol) => protocol.trim().split('/', 1)[0] === 'websocket')) return;
  throw new GatewayError('invalid_request', 'WebSockets are not passed on.');
}
