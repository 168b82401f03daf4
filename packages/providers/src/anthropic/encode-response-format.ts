import type { JsonObject } from '@llm0/core/chat/json';
import type { ResponseFormat } from '@llm0/core/chat/request';
import { chooseAnswerFormat } from '../claude/answer-format';
import type { ModelQuirks } from '../claude/models';

/** JSON mode of a request: one of three, or none for plain text. */
export interface EncodedResponseFormat {
  readonly format?: JsonObject;
  readonly tool?: JsonObject;
  readonly instruction?: string;
}

/** Source: https://platform.claude.com/docs/en/build-with-claude/structured-outputs */
export function encodeResponseFormat(
  format: ResponseFormat | undefined,
  capabilities: readonly string[],
  quirks: ModelQuirks,
): EncodedResponseFormat {
  const can = { keepSchemas: capabilities.includes('response_schema'), forceTools: !quirks.noForcedTool };
  const { schema, tool, instruction } = chooseAnswerFormat(format, can);
  if (schema !== undefined) return { format: { type: 'json_schema', schema } };
  if (tool === undefined) return { instruction };
  return { tool: { name: tool.name, description: tool.description, input_schema: tool.schema } };
}
