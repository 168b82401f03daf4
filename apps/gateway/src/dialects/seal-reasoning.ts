import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ReasoningPart } from '@llm0/core/chat/request';
import { isObject } from './read-fields';

/**
 * Other vendors' reasoning travels through clients in signature fields. The seal marks it, so it returns to its vendor
 * with the next turn.
 */
const SEAL = 'llm0.';
const PART_FIELDS = ['text', 'signature', 'data', 'format'] as const;

/** A vendor's signed or redacted blocks as one text, which clients send back as they got it. */
export function sealReasoning(details: JsonObject | readonly JsonObject[]): string {
  return SEAL + Buffer.from(JSON.stringify(details)).toString('base64url');
}

export function isSealed(text: JsonValue | undefined): text is string {
  return typeof text === 'string' && text.startsWith(SEAL);
}

/** Unseals reasoning; undefined if another gateway sealed it or somebody changed it. */
export function unsealReasoning(sealed: string): JsonValue | undefined {
  if (!isSealed(sealed)) return undefined;
  try {
    return JSON.parse(Buffer.from(sealed.slice(SEAL.length), 'base64url').toString()) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Parsed reasoning block of a vendor; empty for anything else. */
export function reasoningPart(detail: JsonValue | undefined): ReasoningPart {
  if (!isObject(detail)) return {};
  return Object.fromEntries(
    PART_FIELDS.flatMap((name) => (typeof detail[name] === 'string' ? [[name, detail[name]]] : [])),
  );
}
