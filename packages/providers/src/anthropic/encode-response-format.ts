import type { JsonObject } from '@llm0/core/chat/json';
import type { ResponseFormat } from '@llm0/core/chat/request';
import type { ModelQuirks } from '../claude/models';
import { encodeNativeSchema } from '../translation/closed-schema';
import { JSON_TOOL_NAME } from './wire';

/** How an answer in JSON is asked for; one of the three, or none for plain text. */
export interface EncodedResponseFormat {
  /** Native structured output. */
  readonly format?: JsonObject;
  /** A tool that must be called, whose input is the answer. */
  readonly tool?: JsonObject;
  /** Words for the system prompt. */
  readonly instruction?: string;
}

const JSON_INSTRUCTION =
  'Answer with one valid JSON object and nothing else: no explanation, no code fence, no text before or after it.';
const TOOL_DESCRIPTION = 'Gives the answer. Call it exactly once, with the whole answer as its input.';

export function encodeResponseFormat(
  format: ResponseFormat | undefined,
  capabilities: readonly string[],
  quirks: ModelQuirks,
): EncodedResponseFormat {
  if (format === undefined || format.type === 'text') return {};
  if (format.type === 'json_object') return { instruction: JSON_INSTRUCTION };
  const { schema } = format;
  if (capabilities.includes('response_schema')) {
    const native = encodeNativeSchema(schema);
    if (native !== undefined) return { format: { type: 'json_schema', schema: native } };
  }
  const isObject = schema.type === undefined || schema.type === 'object';
  // A tool's input is always an object, and not every model can be made to call one.
  if (quirks.noForcedTool || !isObject) {
    return { instruction: `${JSON_INSTRUCTION}\nIt must match this JSON schema:\n${JSON.stringify(schema)}` };
  }
  const description = format.description ?? TOOL_DESCRIPTION;
  return { tool: { name: JSON_TOOL_NAME, description, input_schema: { type: 'object', ...schema } } };
}
