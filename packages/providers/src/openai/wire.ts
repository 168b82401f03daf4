import type { JsonValue } from '@llm0/core/chat/json';

/**
 * The parts of the Chat Completions format that the gateway reads; everything else is carried along unread.
 * Source: https://platform.openai.com/docs/api-reference/chat
 */
export interface WireToolCall {
  readonly index?: JsonValue;
  readonly id?: JsonValue;
  readonly type?: JsonValue;
  readonly function?: JsonValue;
  readonly custom?: JsonValue;
}

/** Top-level fields of an answer that our own types carry. */
export const ANSWER_FIELDS: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices', 'usage']);

/** Random padding of single chunks, without meaning once they are put together. */
export const PADDING_FIELD = 'obfuscation';
