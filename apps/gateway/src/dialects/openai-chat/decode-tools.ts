import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { Tool, ToolChoice } from '@llm0/core/chat/request';
import { invalid, isObject, keepUnknown, kindOf } from '../read-fields';

/** Function tools are understood; tools of other kinds are kept raw. */
export function decodeTools(value: JsonValue, extra: JsonObject): Tool[] {
  if (!Array.isArray(value)) throw invalid('tools', `"tools" must be an array, but is ${kindOf(value)}.`);
  return value.map((item, i) => {
    const param = `tools[${i}]`;
    if (!isObject(item)) throw invalid(param, `"${param}" must be an object, but is ${kindOf(item)}.`);
    if (item.type !== 'function') return { type: 'raw', format: 'openai-chat', value: item };
    return decodeFunctionTool(item, param, extra);
  });
}

const TOOL_FIELDS: ReadonlySet<string> = new Set(['type', 'function', 'cache_control']);
const FUNCTION_FIELDS: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'strict']);

function decodeFunctionTool(item: JsonObject, param: string, extra: JsonObject): Tool {
  const definition = item.function;
  if (!isObject(definition)) {
    throw invalid(`${param}.function`, `"${param}.function" must be an object, but is ${kindOf(definition)}.`);
  }
  const { name, description, parameters, strict } = definition;
  if (typeof name !== 'string' || name === '') {
    throw invalid(`${param}.function.name`, `"${param}.function.name" must be the function's name.`);
  }
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    throw invalid(`${param}.function.parameters`, `"${param}.function.parameters" must be a JSON schema object.`);
  }
  keepUnknown(item, TOOL_FIELDS, param, extra);
  keepUnknown(definition, FUNCTION_FIELDS, `${param}.function`, extra);
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' ? { description } : {}),
    ...(isObject(parameters) ? { parameters } : {}),
    ...(typeof strict === 'boolean' ? { strict } : {}),
    ...(item.cache_control == null ? {} : { cacheControl: item.cache_control }),
  };
}

export function decodeToolChoice(value: JsonValue | undefined): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value };
  if (isObject(value)) {
    const target = value.function;
    if (value.type === 'function' && isObject(target) && typeof target.name === 'string') {
      return { type: 'tool', name: target.name };
    }
    return { type: 'raw', format: 'openai-chat', value };
  }
  throw invalid('tool_choice', '"tool_choice" must be "auto", "none", "required" or an object naming a function.');
}
