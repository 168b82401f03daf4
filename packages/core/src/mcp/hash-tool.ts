import { createHash } from 'node:crypto';
import { isObject, type JsonObject, type JsonValue } from '../chat/json';

/** All that a model or a client goes by; `_meta` is for the two ends and may change with every list. */
const LEFT_OUT = '_meta';

/** SHA-256 of what a tool says of itself, whatever the order of its fields. */
export function hashTool(tool: JsonObject): string {
  const { [LEFT_OUT]: _, ...said } = tool;
  return createHash('sha256')
    .update(JSON.stringify(inOrder(said)))
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
