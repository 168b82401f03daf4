import { isObject, type JsonObject } from '@llm0/core/chat/json';

/** A tool as its server lists it, every part of the kind that it must be. */
export interface ListedTool {
  readonly name: string;
  readonly tool: JsonObject;
  readonly inputSchema: JsonObject;
}

/** Rules for names by the specification and the providers. */
const NAME = /^[A-Za-z0-9_.\-/]{1,128}$/;
const MAX_TOOL_LENGTH = 256 * 1024;

/** The tools that can be shown, by name; `odd`: how many others there were. */
export function sortTools(items: readonly JsonObject[]): {
  readonly tools: readonly ListedTool[];
  readonly odd: number;
} {
  const byName = new Map<string, ListedTool>();
  for (const tool of items) {
    const { name, inputSchema, description } = tool;
    if (typeof name !== 'string' || !NAME.test(name) || byName.has(name)) continue;
    if (!isObject(inputSchema) || inputSchema.type !== 'object') continue;
    if (description !== undefined && typeof description !== 'string') continue;
    if (JSON.stringify(tool).length > MAX_TOOL_LENGTH) continue;
    byName.set(name, { name, tool, inputSchema });
  }
  const tools = [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  return { tools, odd: items.length - tools.length };
}

/** Valid prompts, resources and templates, sorted by name. */
export function sortNamed(
  items: readonly JsonObject[],
  by: 'name' | 'uri' | 'uriTemplate',
  maxLength: number,
): readonly JsonObject[] {
  const named = new Map<string, JsonObject>();
  for (const item of items) {
    const name = item[by];
    if (typeof name !== 'string' || name === '' || name.length > maxLength || named.has(name)) continue;
    named.set(name, item);
  }
  return [...named].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, item]) => item);
}
