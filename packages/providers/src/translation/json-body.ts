import { type JsonObject, writeMembers } from '@llm0/core/chat/json';
import { LARGE_JSON_LENGTH } from '@llm0/core/chat/json-in-slices';
import type { ChatRequest } from '@llm0/core/chat/request';
import { piecesOfJson } from '@llm0/core/chat/write-json-in-slices';
import type { EmbeddingInput } from '@llm0/core/embedding/embedding-request';

/** A body that is too large to be written at once. */
export class LargeJson {
  constructor(readonly value: JsonObject) {}

  /** Written in turns. */
  pieces(): Promise<Buffer[]> {
    return piecesOfJson(this.value);
  }
}

/** The body of a request to a vendor. */
export function jsonBody(value: JsonObject, isLarge: boolean): string | LargeJson {
  return isLarge ? new LargeJson(value) : JSON.stringify(value);
}

/** Encodes a chat request; unchanged members keep their original text. */
export function chatBody(
  value: JsonObject,
  { digest, wire }: Pick<ChatRequest, 'digest' | 'wire'>,
): string | LargeJson {
  return digest === undefined ? writeMembers(value, wire?.body) : new LargeJson(value);
}

/** Texts, or lists of tokens, that are too much to be written at once. */
export function isLargeInput(inputs: readonly EmbeddingInput[]): boolean {
  let length = 0;
  for (const input of inputs) length += input.length;
  return length > LARGE_JSON_LENGTH;
}
