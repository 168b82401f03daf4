import type { JsonObject } from '@llm0/core/chat/json';
import type { ResponseFormat } from '@llm0/core/chat/request';
import { invalid, isObject, keepUnknown, kindOf, readObject } from '../read-fields';

const TEXT_FIELDS: ReadonlySet<string> = new Set(['format', 'verbosity']);
const FORMAT_FIELDS: ReadonlySet<string> = new Set(['type', 'name', 'description', 'schema', 'strict']);

/** `text.format`; formats of unknown types, and the rest of `text`, are kept in `extra`. */
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
  const { name, description, schema, strict } = format;
  if (typeof name !== 'string' || name === '') {
    throw invalid('text.format.name', '"text.format.name" must be a name for the schema.');
  }
  if (!isObject(schema)) {
    throw invalid('text.format.schema', `"text.format.schema" must be a JSON schema object, but is ${kindOf(schema)}.`);
  }
  return {
    type: 'json_schema',
    name,
    schema,
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
}
