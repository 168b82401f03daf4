import type { JsonObject, JsonValue, WireFormat } from '@llm0/core/chat/json';
import type { ContentPart, ResponseFormat, Tool, ToolChoice } from '@llm0/core/chat/request';
import { invalid, isObject, mustBe, present, saysMore, textOf } from './read-fields';

/** Decoder of one kind of content part. */
export interface PartDecoder {
  /** Known fields; a part with others stays raw. */
  readonly fields: ReadonlySet<string>;
  readonly decode: (item: JsonObject, path: string) => ContentPart;
}

export interface ContentFormat {
  readonly format: WireFormat;
  readonly decoders: ReadonlyMap<string, PartDecoder>;
  /** A part may be a mere text. */
  readonly takesTexts?: true;
}

/** Content (text or parts) → parts. Unknown kinds or fields stay raw. */
export function decodeParts(value: JsonValue | undefined, path: string, of: ContentFormat): ContentPart[] {
  if (typeof value === 'string') return [{ type: 'text', text: value }];
  if (!Array.isArray(value)) throw mustBe(path, 'a string or an array of parts', value);
  const parts: ContentPart[] = [];
  for (const [i, item] of value.entries()) parts.push(decodePart(item, `${path}[${i}]`, of));
  return parts;
}

function decodePart(item: JsonValue, path: string, { format, decoders, takesTexts }: ContentFormat): ContentPart {
  if (takesTexts === true && typeof item === 'string') return { type: 'text', text: item };
  if (!isObject(item)) throw mustBe(path, 'an object with a "type"', item);
  if (typeof item.type !== 'string') throw invalid(`${path}.type`, `"${path}.type" must say what the part is.`);
  const decoder = decoders.get(item.type);
  if (decoder === undefined || saysMore(item, decoder.fields)) return { type: 'raw', format, value: item };
  return decoder.decode(item, path);
}

/** The `tools` of a request; tools that `decode` rejects stay raw. */
export function decodeToolList(
  value: JsonValue,
  format: WireFormat,
  decode: (item: JsonObject, param: string) => Tool | readonly Tool[] | undefined,
): Tool[] {
  if (!Array.isArray(value)) throw mustBe('tools', 'an array', value);
  return value.flatMap((item, i) => {
    const param = `tools[${i}]`;
    if (!isObject(item)) throw mustBe(param, 'an object', item);
    return decode(item, param) ?? { type: 'raw', format, value: item };
  });
}

/** A function's definition, where the format has `parameters` for its schema. */
export function decodeFunction(definition: JsonObject, param: string): Extract<Tool, { type: 'function' }> {
  const { name, description, parameters = null, strict } = definition;
  if (typeof name !== 'string' || name === '') {
    throw invalid(`${param}.name`, `"${param}.name" must be the function's name.`);
  }
  if (parameters !== null && !isObject(parameters)) {
    throw invalid(`${param}.parameters`, `"${param}.parameters" must be a JSON schema object.`);
  }
  return present({
    type: 'function',
    name,
    description: textOf(description),
    parameters: parameters ?? undefined,
    strict: typeof strict === 'boolean' ? strict : undefined,
  });
}

/** `nameOf`: the function in an object. `what`: the expected kind, for error messages. */
export function decodeChoice(
  value: JsonValue | undefined,
  format: WireFormat,
  { nameOf, what }: { readonly nameOf: (choice: JsonObject) => JsonValue | undefined; readonly what: string },
): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value };
  if (!isObject(value)) {
    throw invalid('tool_choice', `"tool_choice" must be "auto", "none", "required" or an object naming ${what}.`);
  }
  const name = value.type === 'function' ? nameOf(value) : undefined;
  return typeof name === 'string' ? { type: 'tool', name } : { type: 'raw', format, value };
}

/** An answer in JSON of a schema that was checked already. */
export function schemaFormat(name: string, schema: JsonObject, { description, strict }: JsonObject): ResponseFormat {
  return present({
    type: 'json_schema',
    name,
    schema,
    description: textOf(description),
    strict: typeof strict === 'boolean' ? strict : undefined,
  });
}

/** An array of texts, at most `most`; undefined for anything else. */
export function textsOf(value: JsonValue | undefined, most: number): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length > most) return undefined;
  return value.every((item) => typeof item === 'string') ? value : undefined;
}
