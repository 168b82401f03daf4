import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { Tool, ToolChoice } from '@llm0/core/chat/request';
import { decodeChoice, decodeFunction, decodeToolList } from '../decode-lists';
import { keepUnknown, textOf } from '../read-fields';
import { joinName, namespaceTools } from './namespaces';

const FUNCTION_FIELDS: ReadonlySet<string> = new Set(['type', 'name', 'description', 'parameters', 'strict']);

/** Function tools are decoded, in a `namespace` too; built-in and other tools stay raw. */
export function decodeTools(value: JsonValue, extra: JsonObject): Tool[] {
  return decodeToolList(value, 'openai-responses', (item, param) => decodeTool(item, param, extra));
}

function decodeTool(item: JsonObject, param: string, extra: JsonObject): Tool[] | undefined {
  if (item.type === 'namespace') return decodeNamespace(item, param, extra);
  if (item.type !== 'function') return undefined;
  const tool = decodeFunction(item, param);
  keepUnknown(item, FUNCTION_FIELDS, param, extra);
  return [tool];
}

/** Adds the group's description to each tool, because other vendors have no groups. */
function decodeNamespace(item: JsonObject, param: string, extra: JsonObject): Tool[] {
  const group = textOf(item.description);
  return namespaceTools(item).map(({ tool, place }, i): Tool => {
    if (tool.type !== 'function') return { type: 'raw', format: 'openai-responses', value: tool };
    const described = [group, textOf(tool.description)].filter((text) => text !== undefined && text !== '');
    const decoded = decodeFunction(tool, `${param}.tools[${i}]`);
    keepUnknown(tool, FUNCTION_FIELDS, `${param}.tools[${i}]`, extra);
    return {
      ...decoded,
      name: joinName(place),
      ...(described.length === 0 ? {} : { description: described.join('\n') }),
    };
  });
}

const NAMED = {
  nameOf: ({ name, namespace }: JsonObject) =>
    typeof name === 'string' ? joinName({ name, namespace: textOf(namespace) }) : name,
  what: 'a tool',
};

export function decodeToolChoice(value: JsonValue | undefined): ToolChoice | undefined {
  return decodeChoice(value, 'openai-responses', NAMED);
}
