import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { asObject } from '../translation/read-json';
import { mapSubschemas, resolveReference } from '../translation/walk-schema';

/** Members the older schema subset knows. Source: https://ai.google.dev/api/caching#Schema */
const KNOWN: ReadonlySet<string> = new Set([
  'type',
  'format',
  'title',
  'description',
  'nullable',
  'enum',
  'maxItems',
  'minItems',
  'properties',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'example',
  'anyOf',
  'propertyOrdering',
  'default',
  'items',
  'minimum',
  'maximum',
]);

/** A JSON schema for models that take the older subset: references resolved in place, unknown members left out. */
export function encodeOlderSchema(schema: JsonObject): JsonObject {
  return inline(schema, schema, []);
}

/** `open`: the references being resolved; one within itself ends there, as any object. */
function inline(schema: JsonObject, root: JsonObject, open: readonly string[]): JsonObject {
  if (typeof schema.$ref === 'string') {
    const reference = schema.$ref;
    const target = open.includes(reference) ? undefined : resolveReference(root, reference);
    return target === undefined ? { type: 'object' } : inline(target, root, [...open, reference]);
  }
  const inlined: JsonObject = {};
  const inner = (value: JsonValue) => inline(asObject(value) ?? {}, root, open);
  for (const name in schema) {
    const value = schema[name];
    if (value === undefined) continue;
    if (name === 'const') inlined.enum = [String(value)];
    else if (name === 'type' && Array.isArray(value)) addTypes(inlined, value);
    else if (name === 'oneOf') inlined.anyOf = mapSubschemas(name, value, inner);
    else if (KNOWN.has(name)) inlined[name] = mapSubschemas(name, value, inner);
  }
  return inlined;
}

function addTypes(to: JsonObject, types: readonly JsonValue[]): void {
  const [first, ...others] = types.filter((type) => type !== 'null');
  if (types.includes('null')) to.nullable = true;
  if (others.length === 0) to.type = first ?? 'string';
  else to.anyOf = [first ?? 'string', ...others].map((type) => ({ type }));
}
