import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { LargeEnd, ResponseSummary, StreamContext, StreamEncoder } from '../dialect';
import { withCost } from '../encode-metadata';
import { isObject } from '../read-fields';
import { encodeErrorBody } from './encode-error';
import { beginResponse, completeResponse, type Finish, foreignFields, isCut } from './encode-response';
import { EventWriter } from './event-writer';
import { OutputItems } from './output-items';
import { writeItems } from './write-items';

const encoder = new TextEncoder();
const EVENT_END = Buffer.from('\n\n');

/**
 * Events → the format's events: created, in progress, items, and a last one with the whole answer. Bytes of the same
 * format pass, numbered after our first two. Source: https://platform.openai.com/docs/api-reference/responses-streaming
 */
export class ResponsesStreamEncoder implements StreamEncoder {
  private readonly writer = new EventWriter();
  private readonly items: OutputItems;
  private begun: JsonObject | undefined;
  private model: string;
  private createdSeconds: number;
  private finishReason: Finish['finishReason'] | undefined;
  private readonly extra: JsonObject = {};
  /** The vendor's answer in this format, or the parts that our types can't hold. */
  private native: JsonObject | undefined;
  private forwarded = false;
  answer: string | undefined;

  constructor(private readonly context: StreamContext) {
    this.items = new OutputItems(context.requestId, { writer: this.writer, request: context.request });
    this.model = context.model;
    this.createdSeconds = context.createdSeconds;
  }

  encode({ events, wire }: EventBatch): Uint8Array | null {
    for (const event of events) this.note(event);
    this.begin();
    if (wire?.format === 'openai-responses') return this.forward(wire);
    for (const event of events) this.add(event);
    return this.take();
  }

  finish(summary: ResponseSummary): Uint8Array {
    const body = this.close(summary);
    this.answer = withCost(JSON.stringify(body), summary.costNanoUsd);
    this.writer.write(endOf(body), `"response":${this.answer}`);
    return encoder.encode(this.writer.take());
  }

  async finishLarge(summary: ResponseSummary): Promise<LargeEnd> {
    const before = encoder.encode(this.writer.take());
    this.writer.beginLate();
    const json = this.close(summary);
    this.writer.writeObject(endOf(json), 'response', {
      fields: json,
      more: withCost('{}', summary.costNanoUsd).slice(1),
    });
    return { pieces: [before, ...(await this.writer.takeLate())], json };
  }

  /** The complete answer after closing all open items. */
  private close(summary: ResponseSummary): JsonObject {
    if (this.begun === undefined) this.model = summary.model;
    const begun = this.begin();
    const finish: Finish = { finishReason: this.finishReason ?? 'stop' };
    const output = this.forwarded ? nativeOutput(this.native) : this.items.close(isCut(finish));
    const fields = this.native ?? foreignFields(this.extra);
    return completeResponse({ begun, output, finish, fields, summary });
  }

  fail(error: GatewayError): Uint8Array {
    const begun = this.begin();
    const { error: details } = encodeErrorBody(error);
    const { code = null, message = '', param = null } = isObject(details) ? details : {};
    this.writer.writeFields('error', { code, message, param, error: details });
    const output = this.forwarded ? nativeOutput(this.native) : this.items.toJson();
    const response = { ...begun, status: 'failed', error: { code, message }, output };
    this.writer.writeFields('response.failed', { response });
    return encoder.encode(this.writer.take());
  }

  /** Fields of the whole answer. */
  private note(event: ChatEvent): void {
    if (event.type === 'start') {
      this.model = event.model ?? this.model;
      this.createdSeconds = event.createdSeconds ?? this.createdSeconds;
    } else if (event.type === 'finish' && event.choice === 0) this.finishReason = event.reason;
    else if (event.type === 'extra' && event.scope === 'answer') this.extra[event.name] = event.value;
  }

  private begin(): JsonObject {
    if (this.begun !== undefined) return this.begun;
    const { model, createdSeconds, context } = this;
    this.begun = beginResponse({ ...context, model, createdSeconds });
    const inner = `"response":${JSON.stringify(this.begun)}`;
    this.writer.write('response.created', inner);
    this.writer.write('response.in_progress', inner);
    return this.begun;
  }

  private forward(wire: NonNullable<EventBatch['wire']>): Uint8Array | null {
    const before = this.take();
    if (wire.kind === 'body') {
      if (this.forwarded) this.native = wire.body;
      else this.replay(wire.body);
      return joined(before, this.take());
    }
    this.forwarded = true;
    if (wire.answer !== undefined) this.native = wire.answer;
    this.writer.skip(countEvents(wire.bytes));
    return wire.bytes.length === 0 ? before : joined(before, wire.bytes);
  }

  private add(event: ChatEvent): void {
    if (this.forwarded) return;
    if (event.type !== 'raw-message') this.items.add(event);
    else if (event.format === 'openai-responses' && event.choice === 0) this.replay(event.value);
  }

  /** Replays a complete answer in this format after the written part; our own events add nothing. */
  private replay(native: JsonObject): void {
    this.forwarded = true;
    const { written, others } = this.items.goOn(nativeOutput(native));
    const output = [...written, ...others];
    writeItems(this.writer, output, written.length);
    this.native = written.length === 0 ? native : { ...native, output };
  }

  private take(): Uint8Array | null {
    const text = this.writer.take();
    return text === '' ? null : encoder.encode(text);
  }
}

const endOf = ({ status }: JsonObject) => (status === 'incomplete' ? 'response.incomplete' : 'response.completed');

function nativeOutput(native: JsonObject | undefined): JsonObject[] {
  const output: JsonValue = native?.output ?? [];
  return Array.isArray(output) ? output.filter(isObject) : [];
}

function joined(before: Uint8Array | null, after: Uint8Array | null): Uint8Array | null {
  if (before === null || after === null) return before ?? after;
  return Buffer.concat([before, after]);
}

function countEvents(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = buffer.indexOf(EVENT_END); at !== -1; at = buffer.indexOf(EVENT_END, at + EVENT_END.length)) count += 1;
  return count;
}
