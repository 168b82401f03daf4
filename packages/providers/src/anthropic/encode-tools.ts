import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest, FunctionTool, ToolChoice } from '@llm0/core/chat/request';
import type { DroppedParameters, Refuse } from '../translation/refuse-parameter';
import { leaveOutTool } from '../translation/translated-fields';
import type { ToolNames } from '../translation/vendor-names';

/** The vendor's built-in tools carry the date of their version. */
const BUILT_IN_TOOL = /_\d{8}$/;

/** Function tools, and the vendor's built-in ones from any format. */
export function encodeTools(
  request: Pick<ChatRequest, 'tools' | 'toolChoice'>,
  { names, dropped }: { readonly names: ToolNames; readonly dropped: DroppedParameters },
): JsonObject[] {
  return (request.tools ?? []).flatMap((tool) => {
    if (tool.type === 'function') return [encodeFunction(tool, names)];
    const type = String(tool.value.type ?? 'unknown');
    if (tool.format === 'anthropic-messages' || BUILT_IN_TOOL.test(type)) return [tool.value];
    leaveOutTool(tool, request, dropped);
    return [];
  });
}

function encodeFunction(tool: FunctionTool, names: ToolNames): JsonObject {
  const encoded: JsonObject = { name: names.toVendor(tool.name) };
  if (tool.description !== undefined) encoded.description = tool.description;
  encoded.input_schema = { type: 'object', ...(tool.parameters ?? { properties: {} }) };
  if (tool.cacheControl !== undefined) encoded.cache_control = tool.cacheControl;
  return encoded;
}

export interface ToolChoiceInput {
  readonly request: Pick<ChatRequest, 'toolChoice' | 'parallelToolCalls'>;
  readonly hasTools: boolean;
  readonly names: ToolNames;
  readonly refuse: Refuse;
}

/** undefined if the vendor's default is equal, or without tools. */
export function encodeToolChoice({ request, hasTools, names, refuse }: ToolChoiceInput): JsonObject | undefined {
  if (!hasTools) return undefined;
  const oneAtATime = request.parallelToolCalls === false;
  if (request.toolChoice === undefined && !oneAtATime) return undefined;
  const choice = encodeChoice(request.toolChoice ?? { type: 'auto' }, names, refuse);
  if (oneAtATime && choice.type !== 'none') choice.disable_parallel_tool_use = true;
  return choice;
}

function encodeChoice(choice: ToolChoice, names: ToolNames, refuse: Refuse): JsonObject {
  switch (choice.type) {
    case 'required':
      return { type: 'any' };
    case 'tool':
      return { type: 'tool', name: names.toVendor(choice.name) };
    case 'raw':
      if (choice.format === 'anthropic-messages' && typeof choice.value === 'object' && choice.value !== null) {
        return { ...(choice.value as JsonObject) };
      }
      refuse('tool_choice', 'is of a kind unknown to');
      return { type: 'auto' };
    default:
      return { type: choice.type };
  }
}
