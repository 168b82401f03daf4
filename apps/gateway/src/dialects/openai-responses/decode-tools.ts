import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { Tool, ToolChoice } from '@llm0/core/chat/request';
import { decodeChoice, decodeFunction, decodeToolList } from '../decode-lists';
import { keepUnknown } from '../read-fields';

const FUNCTION_FIELDS: ReadonlySet<string> = new Set(['type', 'name', 'description', 'parameters', 'strict']);

/** Function tools are understood; built-in tools and tools of other kinds are kept raw. */
export function decodeTools(value: JsonValue, extra: JsonObject): Tool[] {
  return decodeToolList(value, 'openai-responses', (item, param) => {
    if (item.type !== 'function') return undefined;
    const tool = decodeFunction(item, param);
    keepUnknown(item, FUNCTION_FIELDS, param, extra);
    return tool;
  });
}

const NAMED = { nameOf: ({ name }: JsonObject) => name, what: 'a tool' };

export function decodeToolChoice(value: JsonValue | undefined): ToolChoice | undefined {
  return decodeChoice(value, 'openai-responses', NAMED);
}
