import type { JsonObject } from '@llm0/core/chat/json';
import type { ResponseFormat } from '@llm0/core/chat/request';
import { encodeNativeSchema } from '../translation/closed-schema';

/** Replaces structured output for models without it; its arguments are the answer. */
export const JSON_TOOL_NAME = 'llm0_json_answer';

/** JSON mode of a request: one of three, or none for plain text. */
export interface AnswerFormat {
  /** Native structured output. */
  readonly schema?: JsonObject;
  /** A forced tool whose input is the answer. */
  readonly tool?: { readonly name: string; readonly description: string; readonly schema: JsonObject };
  /** Words for the system prompt. */
  readonly instruction?: string;
}

const JSON_INSTRUCTION =
  'Answer with one valid JSON object and nothing else: no explanation, no code fence, no text before or after it.';
const TOOL_DESCRIPTION = 'Gives the answer. Call it exactly once, with the whole answer as its input.';

/** The model's best support for a format: a schema, a forced tool, or an instruction. */
export function chooseAnswerFormat(
  format: ResponseFormat | undefined,
  can: { readonly keepSchemas: boolean; readonly forceTools: boolean },
): AnswerFormat {
  if (format === undefined || format.type === 'text') return {};
  if (format.type === 'json_object') return { instruction: JSON_INSTRUCTION };
  const { schema } = format;
  const native = can.keepSchemas ? encodeNativeSchema(schema) : undefined;
  if (native !== undefined) return { schema: native };
  // A tool's input is always an object, and not every model can be made to call one.
  if (!can.forceTools || (schema.type !== undefined && schema.type !== 'object')) {
    return { instruction: `${JSON_INSTRUCTION}\nIt must match this JSON schema:\n${JSON.stringify(schema)}` };
  }
  const description = format.description ?? TOOL_DESCRIPTION;
  return { tool: { name: JSON_TOOL_NAME, description, schema: { type: 'object', ...schema } } };
}
