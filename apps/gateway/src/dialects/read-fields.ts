import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { invalid, kindOf } from './read-field';

/** A request while it is being read. */
export type OpenRequest = { -readonly [K in keyof ChatRequest]: ChatRequest[K] };

/** Reads one present field into the request; what has no place in it goes to `extra`. */
export type FieldReader = (request: OpenRequest, body: JsonObject, extra: JsonObject) => void;

/** Every field of a body that is there: by its reader, else into `extra` as it is. */
export function readFields(
  request: OpenRequest,
  body: JsonObject,
  readers: ReadonlyMap<string, FieldReader>,
  extra: JsonObject,
): ChatRequest {
  for (const name in body) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    const read = readers.get(name);
    if (read === undefined) extra[name] = value;
    else read(request, body, extra);
  }
  return request;
}

/** Sets a field that is there. */
export function set<K extends keyof OpenRequest>(
  request: OpenRequest,
  name: K,
  value: OpenRequest[K] | undefined,
): void {
  if (value !== undefined) request[name] = value;
}

/** The model's name; throws `invalid_request` for anything else. */
export function decodeModel(value: JsonValue | undefined): string {
  if (typeof value === 'string' && value !== '') return value;
  throw invalid('model', `"model" must be the name of a model, but is ${value === '' ? 'empty' : kindOf(value)}.`);
}
