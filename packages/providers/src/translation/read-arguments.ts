import { type JsonObject, parseJson } from '@llm0/core/chat/json';
import type { ToolCall } from '@llm0/core/chat/request';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import { asObject } from './read-json';

/** A call's arguments as an object; free text of custom tools as `{input}`. Throws `invalid_request` naming the call. */
export function readArguments(call: ToolCall): JsonObject {
  if (call.custom === true) return { input: call.arguments };
  if (call.arguments.trim() === '') return {};
  const value = asObject(parseJson(call.arguments));
  if (value !== undefined) return value;
  throw invalidRequest(
    'messages',
    `The arguments of the tool call "${call.id}" (${call.name}) are not a JSON object. Send them as the model wrote them.`,
  );
}
