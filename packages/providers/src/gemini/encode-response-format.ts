import type { JsonObject } from '@llm0/core/chat/json';
import type { ResponseFormat } from '@llm0/core/chat/request';
import { encodeOlderSchema } from './encode-schema';
import type { ModelQuirks } from './quirks';

/** Members of `generationConfig`. Source: https://ai.google.dev/gemini-api/docs/structured-output */
export function encodeResponseFormat(format: ResponseFormat | undefined, quirks: ModelQuirks): JsonObject {
  if (format === undefined || format.type === 'text') return {};
  const responseMimeType = 'application/json';
  if (format.type === 'json_object') return { responseMimeType };
  return quirks.jsonSchemas
    ? { responseMimeType, responseJsonSchema: format.schema }
    : { responseMimeType, responseSchema: encodeOlderSchema(format.schema) };
}
