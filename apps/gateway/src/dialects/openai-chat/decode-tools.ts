import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { Tool, ToolChoice } from '@llm0/core/chat/request';
import { decodeChoice, decodeFunction, decodeToolList } from '../decode-lists';
import { cacheControl, isObject, keepUnknown, mustBe } from '../read-fields';

const TOOL_FIELDS: ReadonlySet<string> = new Set(['type', 'function', 'cache_control']);
const FUNCTION_FIELDS: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'strict', 'cache_control']);

/** Function tools are decoded; other kinds stay raw. */
export function decodeTools(value: JsonValue, extra: JsonObject): Tool[] {
  return decodeToolList(value, 'openai-chat', (item, param) => {
    if (item.type !== 'function') return undefined;
    const { function: definition } = item;
    if (!isObject(definition)) throw mustBe(`${param}.function`, 'an object', definition);
    const tool = decodeFunction(definition, `${param}.function`);
    keepUnknown(item, TOOL_FIELDS, param, extra);
    keepUnknown(definition, FUNCTION_FIELDS, `${param}.function`, extra);
    // Some clients mark the function instead of the tool.
    return { ...tool, ...cacheControl(definition), ...cacheControl(item) };
  });
}

const NAMED = {
  nameOf: (choice: JsonObject) => (isObject(choice.function) ? choice.function.name : undefined),
  what: 'a function',
};

export function decodeToolChoice(value: JsonValue | undefined): ToolChoice | undefined {
  return decodeChoice(value, 'openai-chat', NAMED);
}
