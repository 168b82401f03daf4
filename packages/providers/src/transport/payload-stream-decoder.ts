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
  /** The same for all such payloads from `at` on in the text of a stream; gives where they end. */
  decodeRun?(stream: string, at: number, events: ChatEvent[]): number;
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
  feed(chunk: Uint8Array, payloads: PayloadSink): void;
  /** Rest at the end. */
  flush(): readonly PayloadText[];
}

/** Takes payloads as they are cut out; see `SseSink`. */
export interface PayloadSink {
  take(text: PayloadText): void;
  takeRun(stream: string, at: number): number;
  giveRun(raw: Uint8Array): void;
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
export class PayloadStreamDecoder implements StreamDecoder, PayloadSink {
  /** Of the batch that is being made. */
  private events: ChatEvent[] = [];
  private pieces: (string | Uint8Array)[] = [];
  private sawPayload = false;
  /** Events from a large one on, which is read in slices. */
  private waiting: PayloadText[] = [];
  hasLarge = false;
  /** Payload of the first waiting event. */
  private parsed: JsonObject | undefined;
  private isFlushing = false;
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
      this.source.feed(chunk, this);
    } catch (error) {
      if (!(error instanceof SseEventTooLargeError)) throw error;
      throw upstreamFailure('malformed', this.provider, 'sent an event too large to be a part of an answer.', error);
    }
    return this.takeBatch();
  }

  async pushLarge(): Promise<EventBatch> {
    const { waiting } = this;
    this.hasLarge = false;
    this.waiting = [];
    this.parsed = await parseLargeEvent(this.provider, waiting[0]?.data ?? '');
    for (const text of waiting) this.take(text);
    return { ...this.takeBatch(), isLarge: true };
  }

  end(): EventBatch {
    const batch = this.done ? EMPTY_BATCH : this.flush();
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

  /** Half an event is a cut connection's rest and adds nothing. */
  private flush(): EventBatch {
    this.isFlushing = true;
    for (const text of this.source.flush()) this.take(text);
    return this.takeBatch();
  }

  /** The next payload of the chunk. */
  take(text: PayloadText): void {
    if (this.done) return;
    if (text.data === '') {
      this.countEmpty();
      return;
    }
    const isLarge = text.data.length > LARGE_JSON_LENGTH && this.parsed === undefined && !this.isFlushing;
    if (isLarge || this.hasLarge) {
      this.waiting.push(text);
      this.hasLarge = true;
      return;
    }
    try {
      this.decodeText(text);
    } catch (error) {
      this.done = true;
      if (this.isFlushing && this.sawPayload && isUnreadable(error)) return;
      if (this.events.length === 0 && this.pieces.length === 0) throw error;
      this.failure = error;
    }
    this.done ||= this.payloads.done;
  }

  takeRun(stream: string, at: number): number {
    if (this.done || this.hasLarge) return at;
    return this.payloads.decodeRun?.(stream, at, this.events) ?? at;
  }

  giveRun(raw: Uint8Array): void {
    this.pieces.push(raw);
  }

  /** What was taken since the last one. */
  private takeBatch(): EventBatch {
    const { events, pieces, payloads } = this;
    this.lookAt(events);
    const isLast = payloads.done && this.failure === undefined ? true : undefined;
    const { forward } = payloads;
    const isForwarded = pieces.length > 0 || forward?.answer !== undefined;
    if (forward === undefined || !isForwarded) {
      if (pieces.length > 0) this.pieces = [];
      if (events.length === 0) return EMPTY_BATCH;
      this.events = [];
      return { events, isLast };
    }
    this.events = [];
    this.pieces = [];
    const wire = { kind: 'bytes', format: forward.format, bytes: joinPieces(pieces), answer: forward.answer } as const;
    return { events, wire, isLast };
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

  private decodeText(text: PayloadText): void {
    const { payloads, events, pieces } = this;
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
