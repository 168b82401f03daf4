import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest, ToolChoice } from '@llm0/core/chat/request';
import type { DroppedParameters, Refuse } from '../translation/refuse-parameter';
import { leaveOutTool } from '../translation/translated-fields';

/** Function tools, and tools of this format. */
export function encodeTools(
  request: Pick<ChatRequest, 'tools' | 'toolChoice'>,
  dropped: DroppedParameters,
): JsonObject[] {
  return (request.tools ?? []).flatMap((tool) => {
    if (tool.type === 'raw') {
      if (tool.format === 'openai-chat') return [tool.value];
      leaveOutTool(tool, request, dropped);
      return [];
    }
    if (tool.cacheControl !== undefined) dropped.note('cache_control');
    const definition: JsonObject = { name: tool.name };
    if (tool.description !== undefined) definition.description = tool.description;
    if (tool.parameters !== undefined) definition.parameters = tool.parameters;
    if (tool.strict !== undefined) definition.strict = tool.strict;
    return [{ type: 'function', function: definition }];
  });
}

export function encodeToolChoice(choice: ToolChoice, refuse: Refuse): JsonValue {
  if (choice.type === 'tool') return { type: 'function', function: { name: choice.name } };
  if (choice.type !== 'raw') return choice.type;
  if (choice.format === 'openai-chat') return choice.value;
  refuse('tool_choice', 'is of a kind unknown to');
  return 'auto';
}
