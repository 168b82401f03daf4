import type { JsonObject } from '@llm0/core/chat/json';
import type { ResponseFormat } from '@llm0/core/chat/request';
import { chooseAnswerFormat } from '../claude/answer-format';
import type { ModelQuirks } from './quirks';

/** JSON mode of a request: one of three, or none for plain text. */
export interface EncodedResponseFormat {
  /** `outputConfig`. */
  readonly output?: JsonObject;
  readonly tool?: JsonObject;
  readonly instruction?: string;
}

/** Source: https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html */
export function encodeResponseFormat(
  format: ResponseFormat | undefined,
  capabilities: readonly string[],
  quirks: ModelQuirks,
): EncodedResponseFormat {
  const keepSchemas = quirks.nativeSchemas && capabilities.includes('response_schema');
  const { schema, tool, instruction } = chooseAnswerFormat(format, { keepSchemas, forceTools: quirks.forcedTools });
  if (schema !== undefined && format?.type === 'json_schema') {
    const { name, description } = format;
    const jsonSchema = { schema: JSON.stringify(schema), name, ...(description === undefined ? {} : { description }) };
    return { output: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } };
  }
  if (tool === undefined) return { instruction };
  const { name, description } = tool;
  return { tool: { toolSpec: { name, description, inputSchema: { json: tool.schema } } } };
}
