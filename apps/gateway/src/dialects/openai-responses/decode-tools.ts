import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { Tool, ToolChoice } from '@llm0/core/chat/request';
import { invalid, isObject, keepUnknown, kindOf } from '../read-fields';

const FUNCTION_FIELDS: ReadonlySet<string> = new Set(['type', 'name', 'description', 'parameters', 'strict']);

/** Function tools are understood; built-in tools and tools of other kinds are kept raw. */
export function decodeTools(value: JsonValue, extra: JsonObject): Tool[] {
  if (!Array.isArray(value)) throw invalid('tools', `"tools" must be an array, but is ${kindOf(value)}.`);
  return value.map((item, i) => {
    const param = `tools[${i}]`;
    if (!isObject(item)) throw invalid(param, `"${param}" must be an object, but is ${kindOf(item)}.`);
    if (item.type !== 'function') return { type: 'raw', format: 'openai-responses', value: item };
    return decodeFunctionTool(item, param, extra);
  });
}

function decodeFunctionTool(item: JsonObject, param: string, extra: JsonObject): Tool {
  const { name, description, parameters, strict } = item;
  if (typeof name !== 'string' || name === '') {
    throw invalid(`${param}.name`, `"${param}.name" must be the function's name.`);
  }
  if (parameters !== undefined && parameters !== null && !isObject(parameters)) {
    throw invalid(`${param}.parameters`, `"${param}.parameters" must be a JSON schema object.`);
  }
  keepUnknown(item, FUNCTION_FIELDS, param, extra);
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' ? { description } : {}),
    ...(isObject(parameters) ? { parameters } : {}),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
}

export function decodeToolChoice(value: JsonValue | undefined): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value };
  if (isObject(value)) {
    if (value.type === 'function' && typeof value.name === 'string') return { type: 'tool', name: value.name };
    return { type: 'raw', format: 'openai-responses', value };
  }
  throw invalid('tool_choice', '"tool_choice" must be "auto", "none", "required" or an object naming a tool.');
}
