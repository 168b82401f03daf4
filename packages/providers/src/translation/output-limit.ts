import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { EncodeContext } from '../provider-request';

/** The output limit that the caller or a strict cap asks for, at most the model's own; undefined where none does. */
export function askedLimit(
  request: Pick<ChatRequest, 'maxOutputTokens'>,
  { outputLimit, priced }: Pick<EncodeContext, 'outputLimit' | 'priced'>,
): number | undefined {
  const asked = request.maxOutputTokens ?? outputLimit;
  const most = priced?.maxOutputTokens;
  return asked === undefined || most === undefined ? asked : Math.min(asked, most);
}

/** Brings the limit in a body down to the model's own. */
export function capLimit(body: JsonObject, field: string, { priced }: Pick<EncodeContext, 'priced'>): void {
  const asked = body[field];
  const most = priced?.maxOutputTokens;
  if (typeof asked === 'number' && most !== undefined && asked > most) body[field] = most;
}
