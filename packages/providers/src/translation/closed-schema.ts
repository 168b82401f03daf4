import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { asObject } from './read-json';

/** Constraints the vendor's grammar cannot hold: they go into the description, for the model to read. */
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
const SCHEMA_MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const SCHEMA_LISTS: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf']);

/**
 * A JSON schema in the vendor's native subset; undefined where it says something that the subset cannot (open objects).
 * Source: https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
 */
export function encodeNativeSchema(schema: JsonObject): JsonObject | undefined {
  return isNative(schema) ? closeSchema(schema) : undefined;
}

function isNative(schema: JsonObject): boolean {
  const open = schema.additionalProperties !== undefined && schema.additionalProperties !== false;
  const untyped = schema.type === 'object' && schema.properties === undefined;
  if (open || untyped || schema.patternProperties !== undefined || schema.not !== undefined) return false;
  return subschemas(schema).every(isNative);
}

function subschemas(schema: JsonObject): JsonObject[] {
  const found: (JsonObject | undefined)[] = [asObject(schema.items)];
  for (const name of SCHEMA_MAPS)
    for (const value of Object.values(asObject(schema[name]) ?? {})) found.push(asObject(value));
  for (const name of SCHEMA_LISTS) {
    const list = schema[name];
    if (Array.isArray(list)) found.push(...list.map(asObject));
  }
  return found.filter((item) => item !== undefined);
}

function closeSchema(schema: JsonObject): JsonObject {
  const closed: JsonObject = {};
  const told: string[] = [];
  for (const name in schema) {
    const value = schema[name];
    if (value === undefined) continue;
    if (isUnsupported(name, value)) told.push(`${name}: ${JSON.stringify(value)}`);
    else closed[name === 'oneOf' ? 'anyOf' : name] = closeMember(name, value);
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

function closeMember(name: string, value: JsonValue): JsonValue {
  const member = asObject(value);
  if (name === 'items' && member !== undefined) return closeSchema(member);
  if (SCHEMA_MAPS.has(name) && member !== undefined) {
    return Object.fromEntries(Object.entries(member).map(([key, inner]) => [key, closeValue(inner)]));
  }
  return SCHEMA_LISTS.has(name) && Array.isArray(value) ? value.map(closeValue) : value;
}

function closeValue(value: JsonValue): JsonValue {
  const schema = asObject(value);
  return schema === undefined ? value : closeSchema(schema);
}
