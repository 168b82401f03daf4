import type { JsonValue } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';

export function mayNotReadBodies(): GatewayError {
  const message = 'This token may not read prompts and answers. Use one with can_read_bodies.';
  return new GatewayError('permission_denied', message);
}

export const parseOrNull = (text: string | null) => (text === null ? null : (JSON.parse(text) as JsonValue));
