import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { asObject } from './read-json';
import { mapSubschemas } from './walk-schema';

/** Constraints outside of the vendor's grammar: the description states them for the model. */
const UNSUPPORTED: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
]);

/**
 * A JSON schema in the vendor's native subset; undefined if the subset can't express it (open objects). Source:
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
 */
export function encodeNativeSchema(schema: JsonObject): JsonObject | undefined {
  return isNative(schema) ? closeSchema(schema) : undefined;
}

function isNative(value: JsonValue): boolean {
  const schema = asObject(value);
  if (schema === undefined) return true;
  const open = schema.additionalProperties !== undefined && schema.additionalProperties !== false;
  const untyped = schema.type === 'object' && schema.properties === undefined;
  if (open || untyped || schema.patternProperties !== undefined || schema.not !== undefined) return false;
  let isWhole = true;
  const check = (inner: JsonValue) => {
    isWhole &&= isNative(inner);
    return inner;
  };
  for (const name in schema) mapSubschemas(name, schema[name] ?? null, check);
  return isWhole;
}

function closeValue(value: JsonValue): JsonValue {
  const schema = asObject(value);
  return schema === undefined ? value : closeSchema(schema);
}

function closeSchema(schema: JsonObject): JsonObject {
  const closed: JsonObject = {};
  const told: string[] = [];
  for (const name in schema) {
    const value = schema[name];
    if (value === undefined) continue;
    if (isUnsupported(name, value)) told.push(`${name}: ${JSON.stringify(value)}`);
    else closed[name === 'oneOf' ? 'anyOf' : name] = mapSubschemas(name, value, closeValue);
  }
  if (schema.type === 'object' || schema.properties !== undefined) closed.additionalProperties = false;
  if (told.length > 0) {
    const before = typeof schema.description === 'string' ? `${schema.description}\n` : '';
    closed.description = `${before}{${told.join(', ')}}`;
  }
  return closed;
}

function isUnsupported(name: string, value: JsonValue): boolean {
  return UNSUPPORTED.has(name) || (name === 'minItems' && value !== 0 && value !== 1);
}
