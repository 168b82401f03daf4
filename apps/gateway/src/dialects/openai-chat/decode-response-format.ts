import type { JsonObject } from '@llm0/core/chat/json';
import type { ResponseFormat } from '@llm0/core/chat/request';
import { invalid, isObject, keepUnknown, kindOf, readObject } from '../read-fields';

const SCHEMA_FIELDS: ReadonlySet<string> = new Set(['name', 'description', 'schema', 'strict']);
const FORMAT_FIELDS: ReadonlySet<string> = new Set(['type', 'json_schema']);

/** Formats of unknown types are kept in `extra`. */
export function decodeResponseFormat(body: JsonObject, extra: JsonObject): ResponseFormat | undefined {
  const format = readObject(body, 'response_format');
  if (format === undefined) return undefined;
  if (typeof format.type !== 'string') {
    throw invalid('response_format', '"response_format.type" must be "text", "json_object" or "json_schema".');
  }
  keepUnknown(format, FORMAT_FIELDS, 'response_format', extra);
  if (format.type === 'text' || format.type === 'json_object') return { type: format.type };
  if (format.type !== 'json_schema') {
    extra.response_format = format;
    return undefined;
  }
  const param = 'response_format.json_schema';
  const definition = format.json_schema;
  if (!isObject(definition)) throw invalid(param, `"${param}" must be an object, but is ${kindOf(definition)}.`);
  const { name, description, schema, strict } = definition;
  if (typeof name !== 'string' || name === '') throw invalid(param, `"${param}.name" must be a name for the schema.`);
  if (schema !== undefined && schema !== null && !isObject(schema)) {
    throw invalid(param, `"${param}.schema" must be a JSON schema object, but is ${kindOf(schema)}.`);
  }
  keepUnknown(definition, SCHEMA_FIELDS, param, extra);
  return {
    type: 'json_schema',
    name,
    schema: isObject(schema) ? schema : {},
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
}
