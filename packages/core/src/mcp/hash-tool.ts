import { createHash } from 'node:crypto';
import { isObject, type JsonObject, type JsonValue } from '../chat/json';

/** SHA-256 of a tool's whole declaration in any field order: clients read `_meta` as well. */
export function hashTool(tool: JsonObject): string {
  return createHash('sha256')
    .update(JSON.stringify(inOrder(tool)))
    .digest('hex');
}

function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  // A list of pairs: an object would put names that are numbers first, and take `__proto__` for something else.
  const pairs = Object.keys(value)
    .sort()
    .map((name): JsonValue => [name, inOrder(value[name] ?? null)]);
  return { '': pairs };
}
