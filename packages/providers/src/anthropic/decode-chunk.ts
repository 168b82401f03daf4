import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { encodeSse } from '@llm0/core/sse/encode-sse';
import { closeAnswer } from '../claude/answer-state';
import { isPlainMessage } from '../claude/native-blocks';
import { asNumber, asObject, asString } from '../translation/read-json';
import { ToolNames } from '../translation/vendor-names';
import type { PayloadDecoder } from '../transport/payload-stream-decoder';
import { upstreamFailure } from '../transport/upstream-failure';
import {
  type AnswerState,
  closeBlock,
  createAnswerState,
  decodeDelta,
  type OpenBlock,
  openBlock,
} from './decode-delta';
import { decodeErrorObject } from './decode-error';
import { MessageUsage } from './decode-usage';
import { finishEvent } from './finish-reasons';
import { ANSWER_FIELDS, PROVIDER, TOOL_NAME_RULE, WIRE_FORMAT } from './wire';

/** End of an answer, held until the provider confirms that it is complete. */
interface Ending {
  readonly stop_reason?: JsonValue;
  readonly stop_sequence?: JsonValue;
  readonly stop_details?: JsonValue;
}

/** Message fields that a stream sends only at its end. */
const CLOSING_FIELDS = ['container', 'context_management'] as const;

type Handler = (decoder: MessageDecoder, payload: JsonObject, events: ChatEvent[]) => void;

/** The events of one answer, streamed or whole. */
export class MessageDecoder implements PayloadDecoder {
  private readonly state: AnswerState;
  private readonly open = new Map<number, OpenBlock>();
  private started = false;
  /** The stream's first event arrived, so later ones make sense to the same format. */
  private opened = false;
  private sawEnding = false;
  private readonly usage = new MessageUsage();
  readonly forward: PayloadDecoder['forward'];
  private ending: Ending = {};
  private static readonly handlers: ReadonlyMap<JsonValue, Handler> = new Map<JsonValue, Handler>([
    ['message_start', (decoder, payload, events) => decoder.openMessage(payload, events)],
    ['content_block_start', (decoder, payload, events) => decoder.openBlock(payload, events)],
    ['content_block_delta', (decoder, payload, events) => decoder.addDelta(payload, events)],
    ['content_block_stop', (decoder, payload, events) => decoder.closeBlock(indexOf(payload), events)],
    ['message_delta', (decoder, payload, events) => decoder.changeMessage(payload, events)],
    ['message_stop', (decoder, _payload, events) => decoder.stop(events)],
  ]);
  done = false;

  constructor(request: Pick<ChatRequest, 'tools' | 'messages' | 'wire'>) {
    const isNative = request.wire?.format === WIRE_FORMAT;
    this.state = createAnswerState(new ToolNames(request, TOOL_NAME_RULE), isNative);
    if (isNative)
      this.forward = { format: WIRE_FORMAT, encode: (payload, { data }) => this.encodeForward(payload, data) };
  }

  /** One event of a stream. Kinds that are not known (`ping`, later ones) are skipped. */
  decode(payload: JsonObject, events: ChatEvent[]): void {
    const mayFail = payload.error !== undefined || payload.type === 'error' || payload.object === 'error';
    const error = mayFail ? decodeErrorObject(payload) : undefined;
    if (error !== undefined) throw error;
    MessageDecoder.handlers.get(payload.type ?? null)?.(this, payload, events);
  }

  /** Only `message_stop` ends an answer. */
  finish(): boolean {
    return this.done;
  }

  /** A whole message. */
  decodeWhole(message: JsonObject, events: ChatEvent[]): void {
    this.start({ ...message, usage: null }, events);
    const blocks = Array.isArray(message.content) ? message.content : [];
    for (const item of blocks) {
      const block = asObject(item);
      if (block !== undefined) closeBlock(openBlock(block, this.state, events), this.state, events);
    }
    this.ending = message;
    this.addUsage(message.usage, events);
    this.stop(events);
  }

  private openMessage(payload: JsonObject, events: ChatEvent[]): void {
    this.opened ||= !this.started;
    this.start(asObject(payload.message) ?? {}, events);
  }

  /** The gateway sends the end, and the caller's dialect the errors. */
  private encodeForward(payload: JsonObject, data: string): string {
    const type = asString(payload.type);
    if (!this.opened || type === undefined) return '';
    if (type !== 'message_stop') return encodeSse(data, type);
    if (this.sawEnding) return '';
    const delta = { stop_reason: 'end_turn', stop_sequence: null };
    const usage = { output_tokens: this.usage.outputTokens };
    return encodeSse(JSON.stringify({ type: 'message_delta', delta, usage }), 'message_delta');
  }

  private start(message: JsonObject, events: ChatEvent[]): void {
    if (this.started) return;
    this.started = true;
    events.push({ type: 'start', id: asString(message.id) || undefined, model: asString(message.model) || undefined });
    for (const name in message) {
      const value = message[name];
      if (ANSWER_FIELDS.has(name) || value === undefined || value === null) continue;
      events.push({ type: 'extra', scope: 'answer', name, value });
    }
    this.addUsage(message.usage, events, true);
  }

  private openBlock(payload: JsonObject, events: ChatEvent[]): void {
    // Servers that speak the format may leave the first event out.
    if (!this.started) this.start({}, events);
    this.open.set(indexOf(payload), openBlock(asObject(payload.content_block) ?? {}, this.state, events));
  }

  private addDelta(payload: JsonObject, events: ChatEvent[]): void {
    const open = this.open.get(indexOf(payload));
    if (open === undefined) throw upstreamFailure('malformed', PROVIDER, 'sent a piece of a block that never began.');
    decodeDelta(asObject(payload.delta) ?? {}, open, this.state, events);
  }

  private changeMessage(payload: JsonObject, events: ChatEvent[]): void {
    this.sawEnding = true;
    this.ending = { ...this.ending, ...asObject(payload.delta) };
    for (const name of CLOSING_FIELDS) {
      const value = payload[name] ?? asObject(payload.delta)?.[name];
      if (value !== undefined && value !== null) events.push({ type: 'extra', scope: 'answer', name, value });
    }
    this.addUsage(payload.usage, events);
  }

  private closeBlock(index: number, events: ChatEvent[]): void {
    const open = this.open.get(index);
    if (open === undefined) return;
    this.open.delete(index);
    closeBlock(open, this.state, events);
  }

  private addUsage(update: JsonValue | undefined, events: ChatEvent[], isStart = false): void {
    const usage = this.usage.add(update, isStart);
    if (usage !== undefined) events.push({ type: 'usage', usage });
  }

  private stop(events: ChatEvent[]): void {
    if (!this.started) throw upstreamFailure('malformed', PROVIDER, 'ended its answer without any content.');
    for (const index of [...this.open.keys()]) this.closeBlock(index, events);
    closeAnswer(this.state, events);
    const explanation = asString(asObject(this.ending.stop_details)?.explanation);
    const native = asString(this.ending.stop_reason) || undefined;
    if (native === 'refusal' && explanation !== undefined) {
      events.push({ type: 'refusal', choice: 0, text: explanation });
    }
    const stopSequence = asString(this.ending.stop_sequence);
    if (stopSequence !== undefined) {
      events.push({ type: 'extra', scope: 'choice', choice: 0, name: 'stop_sequence', value: stopSequence });
    }
    const { nativeBlocks } = this.state;
    if (nativeBlocks !== undefined && !isPlainMessage(nativeBlocks)) {
      const value = { role: 'assistant', content: nativeBlocks };
      events.push({ type: 'raw-message', choice: 0, format: WIRE_FORMAT, value });
    }
    events.push(finishEvent(native, this.state.toolCalls));
    this.done = true;
  }
}

function indexOf(payload: JsonObject): number {
  return asNumber(payload.index) ?? 0;
}
