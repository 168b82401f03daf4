import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { META } from './protocol';

/** From verbose to severe. Source: https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging */
const LEVELS: readonly unknown[] = [
  ...['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'],
];

export const isLogLevel = (value: JsonValue | undefined): value is string => LEVELS.includes(value);

/** True if a request without a session wants a log line; such clients repeat their level in each request. */
export function wantsLog(asked: JsonObject, line: JsonObject): boolean {
  const level = isObject(asked._meta) ? asked._meta[META.logLevel] : undefined;
  return isLogLevel(level) && LEVELS.indexOf(line.level) >= LEVELS.indexOf(level);
}
