import type { EventBatch } from '@llm0/core/chat/event';

/**
 * Turns the bytes of one streamed answer into events. Any chunking of the same bytes gives the same events.
 * `push` and `end` throw a `GatewayError` for an error event, a malformed or a truncated stream.
 */
export interface StreamDecoder {
  /** Events of the complete SSE events in what came so far; an empty batch when none is complete yet. */
  push(chunk: Uint8Array): EventBatch;
  /** A large event came, which is read in turns: `pushLarge` goes on before anything else is pushed. */
  readonly hasLarge?: boolean;
  pushLarge?(): Promise<EventBatch>;
  /** The upstream's connection ended: the last events, or an error when the answer is not complete. */
  end(): EventBatch;
  /** True once the vendor said the answer is over (bytes after that are ignored) or failed: `end` tells which. */
  readonly done: boolean;
}
