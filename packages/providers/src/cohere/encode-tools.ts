import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest, ToolChoice } from '@llm0/core/chat/request';
import type { DroppedParameters } from '../translation/refuse-parameter';
import { leaveOutTool } from '../translation/translated-fields';
import type { ToolNames } from '../translation/vendor-names';

export interface ToolContext {
  readonly names: ToolNames;
  readonly dropped: DroppedParameters;
}

/** Function tools. Where one of them has to be called, it is the only one: the vendor takes no names. */
export function encodeTools(
  request: Pick<ChatRequest, 'tools' | 'toolChoice'>,
  { names, dropped }: ToolContext,
): JsonObject[] {
  const { tools = [], toolChoice } = request;
  return tools.flatMap((tool) => {
    if (tool.type !== 'function') {
      leaveOutTool(tool, request, dropped);
      return [];
    }
    if (toolChoice?.type === 'tool' && toolChoice.name !== tool.name) return [];
    const definition: JsonObject = { name: names.toVendor(tool.name) };
    if (tool.description !== undefined) definition.description = tool.description;
    definition.parameters = { type: 'object', ...(tool.parameters ?? { properties: {} }) };
    return [{ type: 'function', function: definition }];
  });
}

/** undefined if the vendor's default is equal. */
export function encodeToolChoice(choice: ToolChoice | undefined, { dropped }: ToolContext): string | undefined {
  if (choice === undefined) return undefined;
  if (choice.type === 'raw') dropped.refuse('tool_choice', 'is of a kind unknown to');
  return CHOICES[choice.type];
}

const CHOICES = { auto: undefined, none: 'NONE', required: 'REQUIRED', tool: 'REQUIRED', raw: undefined } as const;
