import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { SseDecoder, type SseEvent, SseEventTooLargeError } from '@llm0/core/sse/decode-sse';
import { encodeSse } from '@llm0/core/sse/encode-sse';
import type { StreamDecoder } from '../provider';
import { parseEventData } from '../translation/read-json';
import { upstreamFailure } from '../transport/upstream-failure';
import { ChunkDecoder } from './decode-chunk';
import { decodeErrorObject } from './decode-error';

const DONE = '[DONE]';
const EMPTY_BATCH: EventBatch = { events: [] };
const encoder = new TextEncoder();

/**
 * Decoder of one streamed answer. Every batch that a client would see anything of carries `wire` bytes: the vendor's
 * own where nothing had to change, else the chunk written again with its unknown fields.
 * Source: https://platform.openai.com/docs/api-reference/chat/streaming
 */
export class ChatStreamDecoder implements StreamDecoder {
  private readonly sse = new SseDecoder();
  private readonly chunks = new ChunkDecoder();
  private sawEvent = false;
  private last: JsonObject = {};
  /** Found behind events that still had to go out; thrown by `end`. */
  private failure: unknown;
  done = false;

  constructor(private readonly provider: string) {}

  push(chunk: Uint8Array): EventBatch {
    if (this.done) return EMPTY_BATCH;
    try {
      return this.decode(this.sse.push(chunk));
    } catch (error) {
      if (!(error instanceof SseEventTooLargeError)) throw error;
      throw upstreamFailure('malformed', this.provider, 'sent an event too large to be a part of an answer.', error);
    }
  }

  end(): EventBatch {
    const batch = this.done ? EMPTY_BATCH : this.decode(this.sse.flush(), true);
    if (this.failure !== undefined) throw this.failure;
    if (this.done || this.chunks.complete) {
      this.done = true;
      return batch;
    }
    if (this.sawEvent) {
      throw upstreamFailure('truncated', this.provider, 'closed the connection before the answer was complete.');
    }
    throw upstreamFailure('malformed', this.provider, 'answered without a single readable event.');
  }

  /** `atEnd`: half an event is what a cut connection leaves behind, and says no more than the cut itself. */
  private decode(incoming: readonly SseEvent[], atEnd = false): EventBatch {
    if (incoming.length === 0) return EMPTY_BATCH;
    const events: ChatEvent[] = [];
    const pieces: Uint8Array[] = [];
    for (const event of incoming) {
      if (event.data === '') continue;
      try {
        if (event.data === DONE) this.finish(events, pieces);
        else this.decodeEvent(event, events, pieces);
      } catch (error) {
        if (atEnd && this.sawEvent && isUnreadable(error)) break;
        if (events.length === 0) throw error;
        this.failure = error;
        this.done = true;
      }
      if (this.done) break;
    }
    if (pieces.length === 0) return events.length === 0 ? EMPTY_BATCH : { events };
    return { events, wire: { kind: 'bytes', format: 'openai-chat', bytes: joinBytes(pieces) } };
  }

  private decodeEvent(event: SseEvent, events: ChatEvent[], pieces: Uint8Array[]): void {
    const chunk = parseEventData(this.provider, event.data);
    const error = this.findError(event, chunk);
    if (error !== undefined) throw error;
    this.sawEvent = true;
    const fate = this.chunks.decode(chunk, events);
    if (fate === 'drop') return;
    this.last = chunk;
    const forwarded = fate === 'forward' ? event.raw : undefined;
    pieces.push(forwarded ?? encoder.encode(encodeSse(JSON.stringify(chunk))));
  }

  /** Errors come as `{error: …}`, as an `error` event, or as a bare message where a chunk should be. */
  private findError(event: SseEvent, chunk: JsonObject): GatewayError | undefined {
    if (event.event === 'error') return decodeErrorObject(this.provider, { error: chunk.error ?? chunk });
    if (chunk.error !== undefined || chunk.object === 'error') return decodeErrorObject(this.provider, chunk);
    const isChunk = Array.isArray(chunk.choices) || (chunk.usage !== undefined && chunk.usage !== null);
    const words = chunk.message ?? chunk.detail;
    return isChunk || words === undefined ? undefined : decodeErrorObject(this.provider, { error: chunk });
  }

  /** `[DONE]`: complete, also where the vendor forgot a finish; but an answer of nothing at all is none. */
  private finish(events: ChatEvent[], pieces: Uint8Array[]): void {
    if (!this.sawEvent) throw upstreamFailure('malformed', this.provider, 'ended its answer without any content.');
    const choices = this.chunks.finishOpenChoices(events);
    if (!this.chunks.complete) {
      throw upstreamFailure('malformed', this.provider, 'ended its answer without any content.');
    }
    if (choices.length > 0) {
      const { id, object, created, model } = this.last;
      pieces.push(encoder.encode(encodeSse(JSON.stringify({ id, object, created, model, choices }))));
    }
    this.done = true;
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof GatewayError && error.failure === 'malformed';
}

/** One view where the pieces lie side by side already, else one copy. */
function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  if (first === undefined) return new Uint8Array(0);
  if (pieces.length === 1) return first;
  let end = first.byteOffset + first.byteLength;
  for (let i = 1; i < pieces.length; i++) {
    const piece = pieces[i];
    if (piece === undefined || piece.buffer !== first.buffer || piece.byteOffset !== end) return Buffer.concat(pieces);
    end += piece.byteLength;
  }
  return new Uint8Array(first.buffer, first.byteOffset, end - first.byteOffset);
}
