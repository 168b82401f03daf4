import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { asObject } from './read-json';

const SCHEMA_MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const SCHEMA_LISTS: ReadonlySet<string> = new Set(['anyOf', 'allOf', 'oneOf']);

/** Maps the subschemas of a JSON schema's member; unchanged without any. */
export function mapSubschemas(name: string, value: JsonValue, map: (schema: JsonValue) => JsonValue): JsonValue {
  if (name === 'items') return map(value);
  if (SCHEMA_LISTS.has(name) && Array.isArray(value)) return value.map(map);
  const members = SCHEMA_MAPS.has(name) ? asObject(value) : undefined;
  if (members === undefined) return value;
  return Object.fromEntries(Object.entries(members).map(([key, inner]) => [key, map(inner)]));
}

/** Resolves a schema's local reference (`#/$defs/Name`); undefined for any other. */
export function resolveReference(root: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith('#')) return undefined;
  let found: JsonValue | undefined = root;
  for (const step of reference.split('/').slice(1)) {
    found = asObject(found)?.[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return asObject(found);
}
