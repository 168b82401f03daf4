import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest, FunctionTool, ToolChoice } from '@llm0/core/chat/request';
import type { DroppedParameters } from '../translation/refuse-parameter';
import { leaveOutTool } from '../translation/translated-fields';
import type { ToolNames } from '../translation/vendor-names';
import { encodeOlderSchema } from './encode-schema';
import type { ModelQuirks } from './quirks';

/** The vendor's built-in tools, each an object with one of these members; both spellings are understood. */
const BUILT_IN_TOOL =
  /^(?:google_?search|google_?search_?retrieval|url_?context|code_?execution|file_?search|google_?maps|computer_?use)$/i;

export interface ToolContext {
  readonly names: ToolNames;
  readonly dropped: DroppedParameters;
  readonly quirks: ModelQuirks;
}

/** Function tools, and the vendor's built-in ones from any format. */
export function encodeTools(request: Pick<ChatRequest, 'tools' | 'toolChoice'>, context: ToolContext): JsonObject[] {
  const functionDeclarations: JsonObject[] = [];
  const others: JsonObject[] = [];
  for (const tool of request.tools ?? []) {
    if (tool.type === 'function') {
      if (tool.cacheControl !== undefined) context.dropped.note('cache_control');
      functionDeclarations.push(encodeFunction(tool, context));
    } else if (tool.format === 'gemini-content' || Object.keys(tool.value).some((name) => BUILT_IN_TOOL.test(name))) {
      const { type: _type, ...value } = tool.value;
      others.push(value);
    } else leaveOutTool(tool, request, context.dropped);
  }
  return functionDeclarations.length === 0 ? others : [{ functionDeclarations }, ...others];
}

function encodeFunction(tool: FunctionTool, { names, quirks }: ToolContext): JsonObject {
  const encoded: JsonObject = { name: names.toVendor(tool.name) };
  if (tool.description !== undefined) encoded.description = tool.description;
  const { parameters } = tool;
  if (parameters === undefined) return encoded;
  if (quirks.jsonSchemas) encoded.parametersJsonSchema = parameters;
  // The older subset refuses objects without properties; omitting parameters is equivalent.
  else if (Object.keys(parameters.properties ?? {}).length > 0) encoded.parameters = encodeOlderSchema(parameters);
  return encoded;
}

/** undefined if the vendor's default is equal. */
export function encodeToolChoice(
  choice: ToolChoice | undefined,
  { names, dropped }: ToolContext,
): JsonObject | undefined {
  if (choice === undefined) return undefined;
  if (choice.type === 'tool') return calling({ mode: 'ANY', allowedFunctionNames: [names.toVendor(choice.name)] });
  if (choice.type !== 'raw') return calling({ mode: MODES[choice.type] });
  if (choice.format === 'gemini-content') return { functionCallingConfig: choice.value };
  dropped.refuse('tool_choice', 'is of a kind unknown to');
  return undefined;
}

const MODES = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const;

function calling(functionCallingConfig: JsonObject): JsonObject {
  return { functionCallingConfig };
}
