import type { JsonObject } from '@llm0/core/chat/json';
import type { ResponseFormat } from '@llm0/core/chat/request';
import { encodeNativeSchema } from '../translation/closed-schema';
import type { ModelQuirks } from './quirks';
import { JSON_TOOL_NAME } from './wire';

/** How an answer in JSON is asked for; one of the three, or none for plain text. */
export interface EncodedResponseFormat {
  /** `outputConfig`: native structured output. */
  readonly output?: JsonObject;
  /** A tool that must be called, whose input is the answer. */
  readonly tool?: JsonObject;
  /** Words for the system prompt. */
  readonly instruction?: string;
}

const JSON_INSTRUCTION =
  'Answer with one valid JSON object and nothing else: no explanation, no code fence, no text before or after it.';
const TOOL_DESCRIPTION = 'Gives the answer. Call it exactly once, with the whole answer as its input.';

/** Source: https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html */
export function encodeResponseFormat(
  format: ResponseFormat | undefined,
  capabilities: readonly string[],
  quirks: ModelQuirks,
): EncodedResponseFormat {
  if (format === undefined || format.type === 'text') return {};
  if (format.type === 'json_object') return { instruction: JSON_INSTRUCTION };
  const { schema, name, description } = format;
  if (quirks.nativeSchemas && capabilities.includes('response_schema')) {
    const native = encodeNativeSchema(schema);
    if (native !== undefined) {
      const jsonSchema = {
        schema: JSON.stringify(native),
        name,
        ...(description === undefined ? {} : { description }),
      };
      return { output: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } };
    }
  }
  const isObject = schema.type === undefined || schema.type === 'object';
  // A tool's input is always an object, and not every model can be made to call one.
  if (!quirks.forcedTools || !isObject) {
    return { instruction: `${JSON_INSTRUCTION}\nIt must match this JSON schema:\n${JSON.stringify(schema)}` };
  }
  const spec: JsonObject = { name: JSON_TOOL_NAME, description: description ?? TOOL_DESCRIPTION };
  return { tool: { toolSpec: { ...spec, inputSchema: { json: { type: 'object', ...schema } } } } };
}
