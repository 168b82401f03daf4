import type { JsonObject } from '@llm0/core/chat/json';
import type { ResponseFormat } from '@llm0/core/chat/request';
import { schemaFormat } from '../decode-lists';
import { invalid, isObject, keepUnknown, kindOf, mustBe, readObject } from '../read-fields';

const SCHEMA_FIELDS: ReadonlySet<string> = new Set(['name', 'description', 'schema', 'strict']);
const FORMAT_FIELDS: ReadonlySet<string> = new Set(['type', 'json_schema']);

/** Unknown types go to `extra`. */
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
  if (!isObject(definition)) throw mustBe(param, 'an object', definition);
  const { name, schema = null } = definition;
  if (typeof name !== 'string' || name === '') throw invalid(param, `"${param}.name" must be a name for the schema.`);
  if (schema !== null && !isObject(schema)) {
    throw invalid(param, `"${param}.schema" must be a JSON schema object, but is ${kindOf(schema)}.`);
  }
  keepUnknown(definition, SCHEMA_FIELDS, param, extra);
  return schemaFormat(name, schema ?? {}, definition);
}
