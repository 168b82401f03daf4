import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ReasoningPart } from '@llm0/core/chat/request';
import { isObject } from '../read-fields';

/** Reasoning that only the format's own vendor can open. */
export const SEALED_FORMAT = 'openai-responses-v1';

const PREFIX = 'llm0.';
const PART_FIELDS = ['text', 'signature', 'data', 'format'] as const;

/** Vendors' signed and redacted blocks as one `encrypted_content`, which clients send back as they got it. */
export function sealReasoning(details: readonly JsonObject[]): string {
  return `${PREFIX}${Buffer.from(JSON.stringify(details)).toString('base64url')}`;
}

/** The blocks of `sealReasoning`; undefined for anything this gateway did not seal. */
export function openReasoning(sealed: string): ReasoningPart[] | undefined {
  const details = openDetails(sealed);
  return details?.map((detail) =>
    Object.fromEntries(PART_FIELDS.flatMap((name) => (typeof detail[name] === 'string' ? [[name, detail[name]]] : []))),
  );
}

function openDetails(sealed: string): JsonObject[] | undefined {
  if (!sealed.startsWith(PREFIX)) return undefined;
  try {
    const value = JSON.parse(Buffer.from(sealed.slice(PREFIX.length), 'base64url').toString()) as JsonValue;
    return Array.isArray(value) ? value.filter(isObject) : undefined;
  } catch {
    return undefined;
  }
}
