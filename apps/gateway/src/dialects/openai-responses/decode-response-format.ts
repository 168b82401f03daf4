import type { JsonObject } from '@llm0/core/chat/json';
import type { ResponseFormat } from '@llm0/core/chat/request';
import { schemaFormat } from '../decode-lists';
import { invalid, isObject, keepUnknown, mustBe, readObject } from '../read-fields';

const TEXT_FIELDS: ReadonlySet<string> = new Set(['format', 'verbosity']);
const FORMAT_FIELDS: ReadonlySet<string> = new Set(['type', 'name', 'description', 'schema', 'strict']);

/** `text.format`; unknown types and the rest of `text` go to `extra`. */
export function decodeResponseFormat(body: JsonObject, extra: JsonObject): ResponseFormat | undefined {
  const text = readObject(body, 'text');
  if (text === undefined) return undefined;
  keepUnknown(text, TEXT_FIELDS, 'text', extra);
  if (text.verbosity != null) extra.verbosity = text.verbosity;
  const { format } = text;
  if (format === undefined || format === null) return undefined;
  if (!isObject(format) || typeof format.type !== 'string') {
    throw invalid('text.format', '"text.format.type" must be "text", "json_object" or "json_schema".');
  }
  if (format.type !== 'text' && format.type !== 'json_object' && format.type !== 'json_schema') {
    extra['text.format'] = format;
    return undefined;
  }
  keepUnknown(format, FORMAT_FIELDS, 'text.format', extra);
  if (format.type !== 'json_schema') return { type: format.type };
  const { name, schema } = format;
  if (typeof name !== 'string' || name === '') {
    throw invalid('text.format.name', '"text.format.name" must be a name for the schema.');
  }
  if (!isObject(schema)) throw mustBe('text.format.schema', 'a JSON schema object', schema);
  return schemaFormat(name, schema, format);
}
