import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { JsonObject, WireFormat } from '@llm0/core/chat/json';
import { LARGE_JSON_LENGTH } from '@llm0/core/chat/json-in-slices';
import { largerUsage, type Usage } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { SseDecoder, SseEventTooLargeError } from '@llm0/core/sse/decode-sse';
import type { StreamDecoder } from '../provider';
import { parseEventData, parseLargeEvent } from '../translation/read-json';
import { upstreamFailure } from './upstream-failure';

/** A vendor's decoder for the payloads of one streamed answer. */
export interface PayloadDecoder {
  /** Appends the events of a payload that goes out as it came and is known without parsing; false for others. */
  decodeLike?(text: PayloadText, events: ChatEvent[]): boolean;
  /** Appends the payload's events. Throws a `GatewayError` for an error payload. */
  decode(payload: JsonObject, events: ChatEvent[], text: PayloadText): void;
  /** Last events at `[DONE]`, with their output. Absent for formats without this end. */
  decodeEnd?(events: ChatEvent[]): string;
  /** True after the vendor's end: nothing later is read. */
  readonly done: boolean;
  /** The connection ended: appends the last events; false when the answer is not complete. */
  finish(events: ChatEvent[]): boolean;
  /** Set where a caller of the same format may get the payloads as they are. */
  readonly forward?: {
    readonly format: WireFormat;
    /** The payload just decoded as a whole event of a stream; empty for one that must not go out. */
    encode(payload: JsonObject, text: PayloadText): string | Uint8Array;
    /** The complete answer, once the payload that holds it was decoded. */
    readonly answer?: JsonObject;
  };
}

/** Cuts bytes into the texts of single payloads. */
export interface PayloadSource {
  push(chunk: Uint8Array): readonly PayloadText[];
  /** Rest at the end. */
  flush(): readonly PayloadText[];
}

export interface PayloadText {
  readonly data: string;
  /** Event name of the stream. */
  readonly event?: string;
  /** The event's own bytes, where they can go out as they are. */
  readonly raw?: Uint8Array;
}

const EMPTY_BATCH: EventBatch = { events: [] };
const MAX_EMPTY_EVENTS = 100_000;
/** Maximum of text and arguments: many times a model's limit, and everything kept of an answer. */
const MAX_TEXT_LENGTH = 8 * 1024 * 1024;
const encoder = new TextEncoder();
/** End of Chat Completions; some proxies end every format with it. */
const END_MARK = '[DONE]';

/** Events with one JSON object each → batches; distinguishes truncated from malformed answers. */
export class PayloadStreamDecoder implements StreamDecoder {
  private sawPayload = false;
  /** Events from a large one on, which is read in slices. */
  private waiting: readonly PayloadText[] = [];
  hasLarge = false;
  /** Payload of the first waiting event. */
  private parsed: JsonObject | undefined;
  private empty = 0;
  private textLength = 0;
  private usage: Usage | undefined;
  /** Failure after events that were still to be sent; `end` throws it. */
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

  async pushLarge(): Promise<EventBatch> {
    const { waiting } = this;
    this.hasLarge = false;
    this.waiting = [];
    this.parsed = await parseLargeEvent(this.provider, waiting[0]?.data ?? '');
    return { ...this.decode(waiting, false), isLarge: true };
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

  /** `atEnd`: half an event is a cut connection's rest and adds nothing. */
  private decode(incoming: readonly PayloadText[], atEnd: boolean): EventBatch {
    if (incoming.length === 0) return EMPTY_BATCH;
    const events: ChatEvent[] = [];
    const pieces: (string | Uint8Array)[] = [];
    for (let index = 0; index < incoming.length; index++) {
      const text = incoming[index] as PayloadText;
      if (text.data === '') {
        this.countEmpty();
        continue;
      }
      if (text.data.length > LARGE_JSON_LENGTH && this.parsed === undefined && !atEnd) {
        this.waiting = incoming.slice(index);
        this.hasLarge = true;
        break;
      }
      try {
        this.decodeText(text, events, pieces);
      } catch (error) {
        if (atEnd && this.sawPayload && isUnreadable(error)) break;
        if (events.length === 0 && pieces.length === 0) throw error;
        this.failure = error;
        this.done = true;
      }
      this.done ||= this.payloads.done;
      if (this.done) break;
    }
    this.lookAt(events);
    const { forward } = this.payloads;
    if (forward !== undefined && (pieces.length > 0 || forward.answer !== undefined)) {
      const { format, answer } = forward;
      const bytes = joinPieces(pieces);
      return {
        events,
        wire: answer === undefined ? { kind: 'bytes', format, bytes } : { kind: 'bytes', format, bytes, answer },
      };
    }
    return events.length === 0 ? EMPTY_BATCH : { events };
  }

  /** Keep-alives arrive every few seconds; thousands of them mean a broken sender. */
  private countEmpty(): void {
    this.empty += 1;
    if (this.empty <= MAX_EMPTY_EVENTS) return;
    throw upstreamFailure('malformed', this.provider, 'sent empty events without end.');
  }

  /** Counts text; the larger of repeated usage counts holds. */
  private lookAt(events: ChatEvent[]): void {
    for (let i = 0; i < events.length; i++) {
      const event = events[i] as ChatEvent;
      if ('text' in event) this.textLength += event.text.length;
      else if (event.type === 'usage') {
        const { usage: before } = this;
        this.usage = before === undefined ? event.usage : largerUsage(before, event.usage);
        if (before !== undefined) events[i] = { type: 'usage', usage: this.usage };
      }
    }
    if (this.textLength <= MAX_TEXT_LENGTH) return;
    this.failure ??= upstreamFailure('malformed', this.provider, 'sent more text than any model writes.');
    this.done = true;
  }

  private decodeText(text: PayloadText, events: ChatEvent[], pieces: (string | Uint8Array)[]): void {
    const { payloads } = this;
    let piece: string | Uint8Array | undefined;
    if (text.data === END_MARK) piece = payloads.decodeEnd?.(events);
    else if (this.parsed === undefined && payloads.decodeLike?.(text, events) === true) piece = text.raw;
    else {
      const payload = this.parsed ?? parseEventData(this.provider, text.data);
      this.parsed = undefined;
      this.sawPayload = true;
      const from = events.length;
      payloads.decode(payload, events, text);
      piece = payloads.forward?.encode(payload, text);
      if (events.length === from && (piece === undefined || piece.length === 0)) this.countEmpty();
    }
    if (piece !== undefined && piece.length > 0) pieces.push(piece);
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof GatewayError && error.failure === 'malformed';
}

/** The original bytes if contiguous, else one copy. */
function joinPieces(pieces: readonly (string | Uint8Array)[]): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && typeof only === 'object') return only;
  const runs: Uint8Array[] = [];
  for (let at = 0; at < pieces.length; ) {
    const first = pieces[at++] as string | Uint8Array;
    let next = pieces[at];
    if (typeof first === 'string') {
      let text = first;
      for (; typeof next === 'string'; next = pieces[++at]) text += next;
      runs.push(encoder.encode(text));
      continue;
    }
    let end = first.byteOffset + first.byteLength;
    for (; next instanceof Uint8Array && next.byteOffset === end && next.buffer === first.buffer; next = pieces[++at]) {
      end += next.byteLength;
    }
    runs.push(new Uint8Array(first.buffer, first.byteOffset, end - first.byteOffset));
  }
  return runs.length === 1 ? (runs[0] as Uint8Array) : Buffer.concat(runs);
}
