import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { encodeSse } from '@llm0/core/sse/encode-sse';
import type { ResponseSummary, StreamContext, StreamEncoder } from '../dialect';
import { encodeErrorBody } from '../openai-chat/encode-error';
import { asksForUsage, encodeLastChunk } from '../openai-chat/encode-stream';
import { isObject } from '../read-fields';
import { encodeFinishReason, encodeLogprobs, promptLength } from './encode-choice';

const encoder = new TextEncoder();

/** A choice of one chunk. */
interface Piece {
  readonly index: number;
  text: string;
  logprobs: JsonValue;
  finish_reason: string | null;
  /** Fields of the vendor's own. */
  readonly more: JsonObject;
}

/** Events → chunks of text, one with the metadata, and the end. */
export class CompletionStreamEncoder implements StreamEncoder {
  private head: JsonObject;
  private open: Piece | undefined;
  private out = '';
  /** Unknown top-level fields that wait for the next chunk. */
  private pending: JsonObject = {};
  /** Offset of each choice's next token. */
  private readonly offsets = new Map<number, number>();

  constructor(private readonly context: StreamContext) {
    const { requestId, createdSeconds: created, model } = context;
    this.head = { id: `cmpl-${requestId}`, object: 'text_completion', created, model };
  }

  encode({ events }: EventBatch): Uint8Array | null {
    for (const event of events) this.add(event);
    this.close();
    const { out } = this;
    this.out = '';
    return out === '' ? null : encoder.encode(out);
  }

  finish(summary: ResponseSummary): Uint8Array {
    const isUsageAsked = asksForUsage(this.context.request);
    const chunk: JsonObject = {
      ...this.pending,
      ...this.head,
      choices: isUsageAsked ? [] : [{ index: 0, text: '', logprobs: null, finish_reason: null }],
    };
    return encodeLastChunk(chunk, summary);
  }

  fail(error: GatewayError): Uint8Array {
    return encoder.encode(encodeSse(JSON.stringify(encodeErrorBody(error))));
  }

  private add(event: ChatEvent): void {
    switch (event.type) {
      case 'start': {
        const { id = this.head.id, model = this.head.model, createdSeconds: created = this.head.created } = event;
        this.head = { ...this.head, ...{ id, model, created } } as JsonObject;
        return;
      }
      case 'text':
      case 'refusal':
        this.piece(event.choice, true).text += event.text;
        return;
      case 'finish':
        this.piece(event.choice).finish_reason = encodeFinishReason(event.reason);
        return;
      case 'extra':
        if (event.scope === 'answer') this.pending[event.name] = event.value;
        else if (event.name === 'logprobs') this.addLogprobs(event.choice ?? 0, event.value);
        else if (event.scope === 'choice') this.piece(event.choice ?? 0).more[event.name] = event.value;
    }
  }

  /** The choice's piece of the chunk that is being written. `fresh`: one with nothing but text. */
  private piece(index: number, fresh = false): Piece {
    const { open } = this;
    if (open?.index === index && open.finish_reason === null && !(fresh && open.logprobs !== null)) return open;
    this.close();
    this.open = { index, text: '', logprobs: null, finish_reason: null, more: {} };
    return this.open;
  }

  private addLogprobs(choice: number, value: JsonValue): void {
    const offset = this.offsets.get(choice) ?? promptLength(this.context.request, choice);
    const logprobs = encodeLogprobs(value, offset);
    const tokens = isObject(logprobs) && Array.isArray(logprobs.tokens) ? logprobs.tokens : [];
    this.offsets.set(choice, offset + tokens.join('').length);
    const open = this.piece(choice);
    const piece = open.logprobs === null ? open : this.piece(choice, true);
    piece.logprobs = logprobs;
  }

  private close(): void {
    if (this.open === undefined) return;
    const { more, ...choice } = this.open;
    this.out += encodeSse(JSON.stringify({ ...this.pending, ...this.head, choices: [{ ...more, ...choice }] }));
    this.open = undefined;
    this.pending = {};
  }
}
