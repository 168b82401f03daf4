import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { JsonObject, WireFormat } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { SseDecoder, SseEventTooLargeError } from '@llm0/core/sse/decode-sse';
import type { StreamDecoder } from '../provider';
import { parseEventData } from '../translation/read-json';
import { upstreamFailure } from './upstream-failure';

/** What a vendor makes of the payloads of one streamed answer. */
export interface PayloadDecoder {
  /** Appends the payload's events. Throws a `GatewayError` for an error payload. */
  decode(payload: JsonObject, events: ChatEvent[]): void;
  /** The vendor said the answer is over: nothing after that is read. */
  readonly done: boolean;
  /** The connection ended: appends the last events; false when the answer is not complete. */
  finish(events: ChatEvent[]): boolean;
  /** Set where a caller of the same format may get the payloads as they are. */
  readonly forward?: {
    readonly format: WireFormat;
    /** The payload just decoded as a whole event of a stream; empty for one that must not go out. */
    encode(payload: JsonObject, data: string): string;
    /** The complete answer, once the payload that holds it was decoded. */
    readonly answer?: JsonObject;
  };
}

/** Cuts bytes into the texts of single payloads. */
export interface PayloadSource {
  push(chunk: Uint8Array): readonly PayloadText[];
  /** What is left at the end. */
  flush(): readonly PayloadText[];
}

export interface PayloadText {
  readonly data: string;
}

const EMPTY_BATCH: EventBatch = { events: [] };
const encoder = new TextEncoder();
/** Some proxies end every stream this way, whatever its format. */
const FOREIGN_END = '[DONE]';

/** Events that each hold one JSON object → batches; tells truncated from malformed answers. */
export class PayloadStreamDecoder implements StreamDecoder {
  private sawPayload = false;
  /** Found behind events that still had to go out; thrown by `end`. */
  private failure: unknown;
  done = false;

  constructor(
    private readonly provider: string,
    private readonly payloads: PayloadDecoder,
    private readonly source: PayloadSource = new SseDecoder(),
  ) {}

  push(chunk: Uint8Array): EventBatch {
    if (this.done) return EMPTY_BATCH;
    try {
      return this.decode(this.source.push(chunk), false);
    } catch (error) {
      if (!(error instanceof SseEventTooLargeError)) throw error;
      throw upstreamFailure('malformed', this.provider, 'sent an event too large to be a part of an answer.', error);
    }
  }

  end(): EventBatch {
    const batch = this.done ? EMPTY_BATCH : this.decode(this.source.flush(), true);
    if (this.failure !== undefined) throw this.failure;
    if (this.done && this.payloads.done) return batch;
    this.done = true;
    const events = [...batch.events];
    if (this.sawPayload && this.payloads.finish(events))
      return batch.wire === undefined ? { events } : { ...batch, events };
    if (this.sawPayload) {
      throw upstreamFailure('truncated', this.provider, 'closed the connection before the answer was complete.');
    }
    throw upstreamFailure('malformed', this.provider, 'answered without a single readable event.');
  }

  /** `atEnd`: half an event is what a cut connection leaves behind, and says no more than the cut itself. */
  private decode(incoming: readonly PayloadText[], atEnd: boolean): EventBatch {
    const events: ChatEvent[] = [];
    const { forward } = this.payloads;
    let forwarded = '';
    for (const { data } of incoming) {
      if (data === '' || data === FOREIGN_END) continue;
      try {
        const payload = parseEventData(this.provider, data);
        this.sawPayload = true;
        this.payloads.decode(payload, events);
        if (forward !== undefined) forwarded += forward.encode(payload, data);
      } catch (error) {
        if (atEnd && this.sawPayload && isUnreadable(error)) break;
        if (events.length === 0 && forwarded === '') throw error;
        this.failure = error;
        this.done = true;
      }
      this.done ||= this.payloads.done;
      if (this.done) break;
    }
    if (forward !== undefined && (forwarded !== '' || forward.answer !== undefined)) {
      const { format, answer } = forward;
      const bytes = encoder.encode(forwarded);
      return { events, wire: { kind: 'bytes', format, bytes, ...(answer === undefined ? {} : { answer }) } };
    }
    return events.length === 0 ? EMPTY_BATCH : { events };
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof GatewayError && error.failure === 'malformed';
}
