import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatMessage, ChatRequest, FunctionTool, Tool, ToolChoice } from '@llm0/core/chat/request';
import { asObject } from '../translation/read-json';
import type { DroppedParameters } from '../translation/refuse-parameter';
import { leaveOutTool } from '../translation/translated-fields';
import type { ToolNames } from '../translation/vendor-names';
import { encodeCachePoint } from './encode-messages';

export interface ToolContext {
  readonly names: ToolNames;
  readonly dropped: DroppedParameters;
}

/** Function tools. Calls in messages need declared tools: unavailable ones get a declaration by name only. */
export function encodeTools(
  request: Pick<ChatRequest, 'tools' | 'toolChoice' | 'messages'>,
  context: ToolContext,
): JsonObject[] {
  const offered = (request.tools ?? []).flatMap((tool) => encodeTool(tool, request, context));
  const known = new Set((request.tools ?? []).flatMap((tool) => (tool.type === 'function' ? [tool.name] : [])));
  const called = new Set(request.messages.flatMap(calledNames).filter((name) => !known.has(name)));
  if (offered.length > 0) return offered;
  return [...called].map((name) => ({
    toolSpec: { name: context.names.toVendor(name), inputSchema: { json: { type: 'object' } } },
  }));
}

function calledNames(message: ChatMessage): string[] {
  return message.role === 'assistant' ? (message.toolCalls ?? []).map((call) => call.name) : [];
}

/** True if messages contain calls or results, which need their tools. */
export function hasCalls(messages: readonly ChatMessage[]): boolean {
  return messages.some((message) => message.role === 'tool' || calledNames(message).length > 0);
}

function encodeTool(
  tool: Tool,
  request: Pick<ChatRequest, 'tools' | 'toolChoice'>,
  { names, dropped }: ToolContext,
): JsonObject[] {
  if (tool.type === 'function') return encodeFunction(tool, names);
  if (tool.format === 'bedrock-converse') return [tool.value];
  leaveOutTool(tool, request, dropped);
  return [];
}

function encodeFunction(tool: FunctionTool, names: ToolNames): JsonObject[] {
  const spec: JsonObject = { name: names.toVendor(tool.name) };
  if (tool.description !== undefined && tool.description !== '') spec.description = tool.description;
  spec.inputSchema = { json: { type: 'object', ...(tool.parameters ?? { properties: {} }) } };
  const mark = asObject(tool.cacheControl);
  return [{ toolSpec: spec }, ...(mark === undefined ? [] : [encodeCachePoint(mark)])];
}

/** undefined if the vendor's default is equal. `none` has no counterpart: the caller omits the tools. */
export function encodeToolChoice(
  choice: ToolChoice | undefined,
  { names, dropped }: ToolContext,
): JsonObject | undefined {
  switch (choice?.type) {
    case 'required':
      return { any: {} };
    case 'tool':
      return { tool: { name: names.toVendor(choice.name) } };
    case 'raw':
      dropped.refuse('tool_choice', 'is of a kind unknown to');
      return undefined;
    default:
      return undefined;
  }
}
