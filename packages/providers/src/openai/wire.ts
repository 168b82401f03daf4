/**
 * The parts of the Chat Completions format that the gateway reads; everything else is carried along unread.
 * Source: https://platform.openai.com/docs/api-reference/chat
 */

/** Top-level fields of an answer that our own types carry. */
export const ANSWER_FIELDS: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices', 'usage']);

/** Fields of a choice that our own types carry. */
export const CHOICE_FIELDS: ReadonlySet<string> = new Set([
  'index',
  'delta',
  'message',
  'finish_reason',
  'native_finish_reason',
]);

/** Random padding of single chunks, without meaning once they are put together. */
export const PADDING_FIELD = 'obfuscation';
