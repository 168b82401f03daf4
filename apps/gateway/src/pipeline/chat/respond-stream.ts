import { nextTurn } from '@llm0/core/async/time-slices';
import { ResponseCollector } from '@llm0/core/chat/collect';
import type { EventBatch } from '@llm0/core/chat/event';
import { LARGE_JSON_LENGTH } from '@llm0/core/chat/json-in-slices';
import { splitBatch } from '@llm0/core/chat/replay';
import { MAX_BODY_CHARACTERS } from '@llm0/core/logs/body-log';
import type { StreamEncoder } from '../../dialects/dialect';
import type { Reader } from '../../services/contract';
import { asGatewayError } from '../request/respond-error';
import { PIECE_BYTES } from '../request/taken-stream';
import { bodiesOf, bodyHeaders, finishCompletion, type RespondInput, type RespondNeeds } from './finish-completion';
import { finishLarge, NOT_KEPT, packLarge } from './finish-large';

/** Longest stream that an `Idempotency-Key` replays byte for byte; longer ones are encoded again. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

const ON_DEMAND = { highWaterMark: 0 };

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** The answer as a stream in the caller's format. Failures after the first output end it visibly. */
export function respondStream(services: RespondNeeds, input: RespondInput): Response {
  const stream = new ResponseStream(services, input);
  const headers = bodyHeaders(input, input.meter.markFirstOutput());
  return new Response(new ReadableStream<Uint8Array>(stream, ON_DEMAND), { headers });
}

/** Batches in, bytes out, as fast as the caller reads; ends once, in one of three ways. */
class ResponseStream implements UnderlyingDefaultSource<Uint8Array> {
  private readonly encoder: StreamEncoder;
  private readonly collector: ResponseCollector;
  /** Rest of a large batch. */
  private rest: EventBatch[] = [];
  /** Encoded bytes not yet sent. */
  private readonly pieces: Uint8Array[] = [];
  private readonly signal: AbortSignal;
  private readonly reader: Reader;
  private ended = false;
  private lastMs: number | undefined;
  /** All bytes so far, where they are to be given again. */
  private sent: Uint8Array[] | undefined;
  private sentBytes = 0;

  constructor(
    private readonly services: RespondNeeds,
    private readonly input: RespondInput,
  ) {
    const { dialect, ctx, answer, admission } = input;
    this.encoder = dialect.createStreamEncoder({
      requestId: answer.sent?.requestId ?? ctx.requestId,
      model: answer.target.model,
      createdSeconds: Math.floor(admission.decision.nowMs / 1000),
      request: admission.plan.request,
    });
    this.sent = input.claim.isNone ? undefined : [];
    this.collector = new ResponseCollector(this.neededCharacters());
    this.signal = input.httpRequest.signal;
    const caller = { request: input.httpRequest, key: admission.principal.key.id };
    const ahead = answer.whole === undefined ? ctx.held : undefined;
    this.reader = services.readers.begin({ ...caller, ahead }, this.onAbort);
    this.signal.addEventListener('abort', this.onAbort);
    if (this.signal.aborted) this.onAbort();
  }

  /** The caller closed the connection. */
  readonly onAbort = (): void => {
    this.pieces.length = 0;
    this.reader.end();
    this.end(() => {
      this.input.meter.abort();
      this.input.claim.release();
      this.keepPart('client_closed');
    });
  };

  cancel(): void {
    this.onAbort();
  }

  /** The first output is there already: without waiting for a demand, it leaves in one write with the headers. */
  start(controller: Controller): Promise<void> {
    return this.advance(controller);
  }

  pull(controller: Controller): Promise<void> {
    this.reader.asked();
    return this.advance(controller);
  }

  private async advance(controller: Controller): Promise<void> {
    const { answer } = this.input;
    try {
      const piece = this.pieces.shift();
      if (piece !== undefined) return this.give(controller, piece);
      while (!this.ended) {
        const next = this.rest.length === 0 ? answer.next() : this.nextOfRest();
        const batch = next instanceof Promise ? await next : next;
        if (this.ended) break;
        if (batch === null) return await this.finish(controller);
        if (batch.isLarge === true && batch.wire?.format !== this.input.dialect.wireFormat) {
          this.rest = splitBatch(batch);
          continue;
        }
        this.measureGap();
        this.collector.add(batch.events);
        const bytes = this.encoder.encode(batch);
        if (bytes !== null) this.give(controller, this.sent === undefined ? bytes : this.keep(bytes));
        if (batch.isLast === true && this.pieces.length === 0) return await this.finish(controller);
        if (bytes !== null) return;
      }
      this.close(controller);
    } catch (cause) {
      await this.fail(controller, cause);
    }
  }

  /** Splits a long piece, because untaken bytes wait in memory. */
  private give(controller: Controller, bytes: Uint8Array): void {
    const rest = bytes.byteLength - PIECE_BYTES;
    if (rest > 0) this.pieces.unshift(bytes.subarray(PIECE_BYTES));
    const piece = rest > 0 ? bytes.subarray(0, PIECE_BYTES) : bytes;
    this.reader.gave(piece.byteLength);
    controller.enqueue(piece);
  }

  private async nextOfRest(): Promise<EventBatch | null> {
    await nextTurn();
    return this.rest.shift() ?? null;
  }

  /** Text of the answer for cache, replay and body log. */
  private neededCharacters(): number {
    const { claim, admission } = this.input;
    if (!claim.isNone) return Number.POSITIVE_INFINITY;
    const cached = admission.plan.cacheKey === undefined ? 0 : this.services.config.cacheMaxBodyBytes;
    return Math.max(2 * MAX_BODY_CHARACTERS, cached);
  }

  /** `finish` of a large answer: settles before the end and stores in slices. */
  private async finishLarge(controller: Controller): Promise<void> {
    const { collector, encoder, input, services } = this;
    const { answer, meter, dialect } = input;
    await nextTurn();
    const response = collector.response();
    const packed = collector.isCut ? NOT_KEPT : await packLarge(services, input, response);
    if (this.ended) return this.close(controller);
    this.ended = true;
    this.signal.removeEventListener('abort', this.onAbort);
    try {
      const summary = meter.complete(response, response.usage, packed);
      const end = (await encoder.finishLarge?.(summary)) ?? { pieces: [encoder.finish(summary)], json: undefined };
      for (const piece of end.pieces) this.keep(piece);
      const json = dialect.responseStorage && end.json;
      await finishLarge(services, input, { response, summary, packed, json, sent: this.sent });
      this.pieces.push(...end.pieces);
      this.give(controller, this.pieces.shift() as Uint8Array);
    } finally {
      answer.leave();
      input.onEnd();
    }
  }

  private async finish(controller: Controller): Promise<void> {
    if (this.collector.characters > LARGE_JSON_LENGTH) return this.finishLarge(controller);
    let last: Uint8Array | undefined;
    let finished: Promise<void> | undefined;
    this.end(() => {
      const response = this.collector.response();
      const summary = this.input.meter.complete(response, response.usage);
      last = this.keep(this.encoder.finish(summary));
      const { answer: text } = this.encoder;
      finished = finishCompletion(this.services, this.input, { response, summary, text, bytes: this.sent });
    });
    await finished;
    if (last !== undefined) controller.enqueue(last);
    this.close(controller);
  }

  private async fail(controller: Controller, cause: unknown): Promise<void> {
    if (this.signal.aborted) {
      this.onAbort();
      return this.close(controller);
    }
    const { meter, claim, ctx } = this.input;
    const error = asGatewayError(cause, this.services.log, ctx);
    this.end(() => {
      meter.fail(error);
      claim.fail(error);
      this.keepPart(error.kind);
    });
    // If the end itself failed, nothing is settled yet.
    meter.fail(error);
    await meter.handedOver;
    controller.enqueue(this.encoder.fail(error, ctx.requestId));
    this.close(controller);
  }

  private end(settle: () => void): void {
    if (this.ended) return;
    this.ended = true;
    this.signal.removeEventListener('abort', this.onAbort);
    try {
      settle();
    } finally {
      this.input.answer.leave();
      this.input.onEnd();
    }
  }

  private keep(bytes: Uint8Array): Uint8Array {
    if (this.sent === undefined) return bytes;
    this.sentBytes += bytes.length;
    if (this.sentBytes > MAX_KEPT_BYTES) this.sent = undefined;
    else this.sent.push(bytes);
    return bytes;
  }

  private close(controller: Controller): void {
    this.reader.end();
    try {
      controller.close();
    } catch {
      // Already closed by the cancelling side.
    }
  }

  private measureGap(): void {
    const nowMs = this.services.clock.monotonicMs();
    if (this.lastMs !== undefined) this.services.metrics.chunkGapMs.observe(nowMs - this.lastMs);
    this.lastMs = nowMs;
  }

  private keepPart(incomplete: string): void {
    this.services.bodyLog.keep(() =>
      bodiesOf(this.input, JSON.stringify({ incomplete, ...this.collector.response() })),
    );
  }
}
