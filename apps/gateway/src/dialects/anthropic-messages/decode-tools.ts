import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { Tool, ToolChoice } from '@llm0/core/chat/request';
import { decodeFunction, decodeToolList } from '../decode-lists';
import { cacheControl, invalid, isObject, keepUnknown, mustBe } from '../read-fields';

const TOOL_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
]);

/** The caller's tools are decoded; the vendor's built-in ones stay raw. */
export function decodeTools(value: JsonValue, extra: JsonObject): Tool[] {
  return decodeToolList(value, 'anthropic-messages', (item, param) => {
    const isOwn = item.type === undefined || item.type === null || item.type === 'custom';
    return isOwn ? decodeOwnTool(item, param, extra) : undefined;
  });
}

function decodeOwnTool(item: JsonObject, param: string, extra: JsonObject): Tool {
  const { name, description, input_schema: parameters, strict } = item;
  if (typeof name !== 'string' || name === '') {
    throw invalid(`${param}.name`, `"${param}.name" must be the tool's name.`);
  }
  if (!isObject(parameters)) throw mustBe(`${param}.input_schema`, 'a JSON schema object', parameters);
  keepUnknown(item, TOOL_FIELDS, param, extra);
  const tool = decodeFunction({ name, description: description ?? null, parameters, strict: strict ?? null }, param);
  return { ...tool, ...cacheControl(item) };
}

const CHOICES = { auto: 'auto', any: 'required', none: 'none' } as const;
const CHOICE_FIELDS: ReadonlySet<string> = new Set(['type', 'name', 'disable_parallel_tool_use']);

export interface DecodedChoice {
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls?: false;
}

export function decodeToolChoice(value: JsonValue, extra: JsonObject): DecodedChoice {
  if (!isObject(value) || typeof value.type !== 'string') {
    throw invalid('tool_choice', '"tool_choice" must be an object whose "type" is "auto", "any", "tool" or "none".');
  }
  keepUnknown(value, CHOICE_FIELDS, 'tool_choice', extra);
  const parallel = value.disable_parallel_tool_use === true ? ({ parallelToolCalls: false } as const) : {};
  if (value.type === 'tool') {
    if (typeof value.name !== 'string') throw invalid('tool_choice.name', '"tool_choice.name" must name the tool.');
    return { toolChoice: { type: 'tool', name: value.name }, ...parallel };
  }
  if (Object.hasOwn(CHOICES, value.type)) {
    return { toolChoice: { type: CHOICES[value.type as keyof typeof CHOICES] }, ...parallel };
  }
  return { toolChoice: { type: 'raw', format: 'anthropic-messages', value } };
}
