import type { EventBatch } from '@llm0/core/chat/event';

/**
 * Turns the bytes of one streamed answer into events. Any chunking of the same bytes gives the same events.
 * `push` and `end` throw a `GatewayError` for an error event, a malformed or a truncated stream.
 */
export interface StreamDecoder {
  /** Decodes the complete SSE events so far; an empty batch without one. */
  push(chunk: Uint8Array): EventBatch;
  /** A large event arrived, which is read in slices: call `pushLarge` before pushing more. */
  readonly hasLarge?: boolean;
  pushLarge?(): Promise<EventBatch>;
  /** The upstream's connection ended: the last events, or an error when the answer is not complete. */
  end(): EventBatch;
  /** True after the vendor's end (later bytes are ignored) or failure: `end` distinguishes them. */
  readonly done: boolean;
}
