import type { JsonObject } from '@llm0/core/chat/json';
import type { ResponseFormat } from '@llm0/core/chat/request';

/** undefined for text. Source: https://docs.cohere.com/docs/structured-outputs */
export function encodeResponseFormat(format: ResponseFormat | undefined): JsonObject | undefined {
  if (format === undefined || format.type === 'text') return undefined;
  const type = 'json_object';
  return format.type === 'json_object' ? { type } : { type, json_schema: format.schema };
}
