import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ReasoningPart } from '@llm0/core/chat/request';
import { isObject } from '../read-fields';

/**
 * Thoughts of other vendors travel through clients of this format in the places made for signatures: sealed, so that they
 * are told from this vendor's own, and reach the vendor they came from when the turn is sent back.
 */
const SEAL = 'llm0.';

export function sealReasoning(detail: JsonObject): string {
  return SEAL + Buffer.from(JSON.stringify(detail)).toString('base64url');
}

export function isSealed(text: JsonValue | undefined): text is string {
  return typeof text === 'string' && text.startsWith(SEAL);
}

/** What was sealed; nothing where somebody changed it. */
export function unsealReasoning(sealed: string): ReasoningPart {
  let value: JsonValue;
  try {
    value = JSON.parse(Buffer.from(sealed.slice(SEAL.length), 'base64url').toString()) as JsonValue;
  } catch {
    return {};
  }
  if (!isObject(value)) return {};
  const { text, signature, data, format } = value;
  return {
    ...(typeof text === 'string' ? { text } : {}),
    ...(typeof signature === 'string' ? { signature } : {}),
    ...(typeof data === 'string' ? { data } : {}),
    ...(typeof format === 'string' ? { format } : {}),
  };
}
