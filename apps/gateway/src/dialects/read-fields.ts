import { isObject, type JsonObject, type JsonValue, present } from '@llm0/core/chat/json';
import { MAX_JSON_DEPTH } from '@llm0/core/chat/json-bounds';
import type { ChatRequest } from '@llm0/core/chat/request';
import { type GatewayError, invalidRequest as invalid } from '@llm0/core/errors/gateway-error';

export { invalid, isObject, present };

/** Type of a value for error messages. */
export function kindOf(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The error for a value of another kind than `wanted`: "a string", "an object". */
export function mustBe(path: string, wanted: string, value: JsonValue | undefined): GatewayError {
  return invalid(path, `"${path}" must be ${wanted}, but is ${kindOf(value)}.`);
}

/** A value that was not one of those allowed, in the words of an error message. */
export function shown(value: JsonValue | undefined): string {
  return typeof value === 'string' ? `"${value.slice(0, 40)}"` : kindOf(value);
}

/** The text of an item's field that must be there. */
export function requiredText(item: JsonObject, name: string, path: string): string {
  const value = item[name];
  if (typeof value === 'string') return value;
  throw mustBe(`${path}.${name}`, 'a string', value);
}

/** The text of an item's field, or undefined where absent or null. */
export function optionalText(item: JsonObject, name: string, path: string): string | undefined {
  return item[name] == null ? undefined : requiredText(item, name, path);
}

/** The text, or undefined for any other value. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** True if it has further fields. */
export function saysMore(item: JsonObject, known: ReadonlySet<string>): boolean {
  for (const name in item) if (!known.has(name) && item[name] != null) return true;
  return false;
}

export function cacheControl(item: JsonObject): { cacheControl?: JsonValue } {
  return item.cache_control == null ? {} : { cacheControl: item.cache_control };
}

/** Throws where a body is nested so deeply that reading or writing it could exhaust the stack. */
export function checkDepth(body: JsonObject): void {
  const tooDeep = findTooDeep(body, MAX_JSON_DEPTH);
  if (tooDeep) throw invalid('', `The request is nested more than ${MAX_JSON_DEPTH} levels deep. Flatten it.`);
}

function findTooDeep(value: JsonValue, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (left === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && findTooDeep(item, left - 1)) return true;
    return false;
  }
  for (const name in value) {
    const item = value[name];
    if (typeof item === 'object' && findTooDeep(item, left - 1)) return true;
  }
  return false;
}

/** A string, or undefined where absent or null. */
export function readString(body: JsonObject, name: string): string | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw mustBe(name, 'a string', value);
}

export function readBoolean(body: JsonObject, name: string): boolean | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || typeof value === 'boolean') return value;
  throw mustBe(name, 'true or false', value);
}

export function readObject(body: JsonObject, name: string): JsonObject | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || isObject(value)) return value;
  throw mustBe(name, 'an object', value);
}

export interface NumberRange {
  readonly min: number;
  readonly max: number;
  readonly integer?: boolean;
}

export function readNumber(body: JsonObject, name: string, range: NumberRange): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  const fits =
    typeof value === 'number' &&
    value >= range.min &&
    value <= range.max &&
    (range.integer !== true || Number.isInteger(value));
  if (fits) return value;
  const what = range.integer === true ? 'a whole number' : 'a number';
  const shown = typeof value === 'number' ? String(value) : kindOf(value);
  throw invalid(name, `"${name}" must be ${what} from ${range.min} to ${range.max}, but is ${shown}.`);
}

/** Unknown fields inside known objects, stored under their path so that none is lost. */
export function keepUnknown(from: JsonObject, known: ReadonlySet<string>, path: string, extra: JsonObject): void {
  for (const name in from) {
    const value = from[name];
    if (!known.has(name) && value !== undefined && value !== null) extra[`${path}.${name}`] = value;
  }
}

/** A request while it is being read. */
export type OpenRequest = { -readonly [K in keyof ChatRequest]: ChatRequest[K] };

/** Reads one field into the request; unsupported content goes to `extra`. */
export type FieldReader = (request: OpenRequest, body: JsonObject, extra: JsonObject) => void;

/** For fields that are read ahead of the others. */
export const ELSEWHERE: FieldReader = () => {};

/** Reads every field by its reader, else copies it to `extra`. */
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
    else if (read !== ELSEWHERE) read(request, body, extra);
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
