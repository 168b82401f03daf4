import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { encodeSse } from '@llm0/core/sse/encode-sse';
import type { StreamDecoder } from '../provider';
import { type PayloadDecoder, PayloadStreamDecoder, type PayloadText } from '../transport/payload-stream-decoder';
import { upstreamFailure } from '../transport/upstream-failure';
import { ChunkDecoder, type ChunkFate } from './decode-chunk';
import { decodeErrorObject } from './decode-error';

/** Source: https://platform.openai.com/docs/api-reference/chat/streaming */
export function createStreamDecoder(provider: string): StreamDecoder {
  return new PayloadStreamDecoder(provider, new ChatStream(provider));
}

/**
 * Decodes the chunks of one streamed answer and forwards every visible one. Unchanged chunks keep the vendor's bytes;
 * others are encoded again with their unknown fields.
 */
export class ChatStream implements PayloadDecoder {
  private readonly chunks = new ChunkDecoder();
  private last: JsonObject = {};
  private fate: ChunkFate = 'drop';
  readonly forward: NonNullable<PayloadDecoder['forward']> = this;
  readonly format = 'openai-chat';
  done = false;

  constructor(private readonly provider: string) {}

  decodeLike({ data, event, raw }: PayloadText, events: ChatEvent[]): boolean {
    const { template } = this.chunks;
    if (template === undefined || event !== undefined || raw === undefined) return false;
    const text = template.textOf(data);
    if (text === undefined) return false;
    events.push({ type: 'text', choice: template.choice, text });
    this.last = template.chunk;
    return true;
  }

  decodeRun(stream: string, at: number, events: ChatEvent[]): number {
    const { template } = this.chunks;
    if (template === undefined) return at;
    const end = template.readRun(stream, at, events);
    if (end > at) this.last = template.chunk;
    return end;
  }

  decode(chunk: JsonObject, events: ChatEvent[], { event, data }: PayloadText): void {
    if (event === undefined && this.chunks.decodeText(chunk, events, data)) {
      this.fate = 'forward';
      this.last = chunk;
      return;
    }
    const error = this.findError(event, chunk);
    if (error !== undefined) throw error;
    this.fate = this.chunks.decode(chunk, events);
    if (this.fate !== 'drop') this.last = chunk;
  }

  encode(chunk: JsonObject, { raw }: PayloadText): string | Uint8Array {
    if (this.fate === 'drop') return '';
    return this.fate === 'forward' && raw !== undefined ? raw : encodeSse(JSON.stringify(chunk));
  }

  /** Complete, also where the vendor forgot a finish; but an answer of nothing at all is none. */
  decodeEnd(events: ChatEvent[]): string {
    const choices = this.chunks.finishOpenChoices(events);
    if (!this.chunks.complete) {
      throw upstreamFailure('malformed', this.provider, 'ended its answer without any content.');
    }
    this.done = true;
    if (choices.length === 0) return '';
    const { id, object, created, model } = this.last;
    return encodeSse(JSON.stringify({ id, object, created, model, choices }));
  }

  finish(): boolean {
    return this.chunks.complete;
  }

  /** Errors arrive as `{error: …}`, as an `error` event, or as a bare message instead of a chunk. */
  private findError(event: string | undefined, chunk: JsonObject): GatewayError | undefined {
    if (event === 'error') return decodeErrorObject(this.provider, { error: chunk.error ?? chunk });
    if (chunk.error !== undefined || chunk.object === 'error') return decodeErrorObject(this.provider, chunk);
    const isChunk = Array.isArray(chunk.choices) || (chunk.usage !== undefined && chunk.usage !== null);
    const words = chunk.message ?? chunk.detail;
    return isChunk || words === undefined ? undefined : decodeErrorObject(this.provider, { error: chunk });
  }
}
