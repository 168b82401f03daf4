import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ResponseFormat } from '@llm0/core/chat/request';
import { isObject, keepUnknown, mustBe } from '../read-fields';

/** This format gives schemas no name; others demand one. */
const SCHEMA_NAME = 'answer';
const FORMAT_FIELDS: ReadonlySet<string> = new Set(['type', 'schema']);

/** `output_config.format`. Unknown types go to `extra`. */
export function decodeResponseFormat(value: JsonValue, path: string, extra: JsonObject): ResponseFormat | undefined {
  if (!isObject(value)) throw mustBe(path, 'an object', value);
  if (value.type !== 'json_schema') {
    extra[path] = value;
    return undefined;
  }
  if (!isObject(value.schema)) throw mustBe(`${path}.schema`, 'a JSON schema object', value.schema);
  keepUnknown(value, FORMAT_FIELDS, path, extra);
  return { type: 'json_schema', name: SCHEMA_NAME, schema: value.schema };
}
