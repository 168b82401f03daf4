import { expect, test } from 'bun:test';
import { errorStatus } from '@llm0/core/errors/error-table';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { refuseWebSocket } from './refuse-websocket';

const refused = (upgrade?: string) => () => refuseWebSocket(new Headers(upgrade === undefined ? {} : { upgrade }));

test.each([undefined, '', 'h2c', 'h2c, TLS/1.0', 'HTTP/2.0', 'irc/6.9', 'websockets'])(
  'Upgrade: %s is ignored',
  (upgrade) => {
    expect(refused(upgrade)).not.toThrow();
  },
);

test.each(['websocket', 'WebSocket', 'h2c, websocket', 'websocket/13', ' websocket '])(
  'Upgrade: %s is refused',
  (upgrade) => {
    expect(refused(upgrade)).toThrow("WebSockets aren't supported here.");
  },
);

test.each([400, 426] as const)('the status its client understands: %i', (status) => {
  try {
    refuseWebSocket(new Headers({ upgrade: 'websocket' }), status);
    expect.unreachable();
  } catch (error) {
    expect(error instanceof GatewayError && errorStatus(error)).toBe(status);
  }
});
