import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { closeAnswer } from '../claude/answer-state';
import { asNumber, asObject, asObjects, asString } from '../translation/read-json';
import { ToolNames } from '../translation/vendor-names';
import type { PayloadDecoder } from '../transport/payload-stream-decoder';
import { upstreamFailure } from '../transport/upstream-failure';
import {
  type AnswerState,
  closeBlock,
  createAnswerState,
  createBlock,
  decodeBlock,
  decodeDelta,
  type OpenBlock,
  openCall,
} from './decode-delta';
import { decodeErrorObject } from './decode-error';
import { decodeUsage } from './decode-usage';
import { finishEvent, isFailedOutput } from './finish-reasons';
import { EXTRA_ANSWER_FIELDS, PROVIDER, TOOL_NAME_RULE } from './wire';

/** The events of one answer, streamed or whole. */
export class ConverseDecoder implements PayloadDecoder {
  private readonly state: AnswerState;
  private readonly open = new Map<number, OpenBlock>();
  private started = false;
  private stopped = false;
  private readonly handlers: Readonly<Record<string, (payload: JsonObject, events: ChatEvent[]) => void>> = {
    messageStart: (_payload, events) => this.start(events),
    contentBlockStart: (payload, events) => this.openBlock(payload, events),
    contentBlockDelta: (payload, events) => this.addDelta(payload, events),
    contentBlockStop: (payload, events) => this.closeBlock(indexOf(payload), events),
    messageStop: (payload, events) => this.stop(payload, events),
    metadata: (payload, events) => this.addMetadata(payload, events),
  };
  done = false;

  constructor(request: Pick<ChatRequest, 'tools' | 'messages'>) {
    this.state = createAnswerState(new ToolNames(request, TOOL_NAME_RULE));
  }

  /** One event of a stream, by its name: `{messageStart: {…}}`. Kinds that are not known are skipped. */
  decode(payload: JsonObject, events: ChatEvent[]): void {
    const error = decodeErrorObject(payload);
    if (error !== undefined) throw error;
    for (const name in payload) {
      if (Object.hasOwn(this.handlers, name)) this.handlers[name]?.(asObject(payload[name]) ?? {}, events);
    }
  }

  /** Only `messageStop` completes an answer; counts follow it. */
  finish(): boolean {
    return this.stopped;
  }

  /** A whole answer. */
  decodeWhole(body: JsonObject, content: readonly JsonValue[], events: ChatEvent[]): void {
    this.start(events);
    for (const block of asObjects([...content])) decodeBlock(block, this.state, events);
    this.addMetadata(body, events);
    this.stop(body, events);
  }

  private start(events: ChatEvent[]): void {
    if (this.started) return;
    this.started = true;
    events.push({ type: 'start' });
  }

  private blockAt(index: number): OpenBlock {
    let block = this.open.get(index);
    if (block === undefined) {
      block = createBlock();
      this.open.set(index, block);
    }
    return block;
  }

  private openBlock(payload: JsonObject, events: ChatEvent[]): void {
    this.start(events);
    const block = this.blockAt(indexOf(payload));
    const call = asObject(asObject(payload.start)?.toolUse);
    if (call !== undefined) openCall(call, block, this.state, events);
  }

  /** Blocks of text begin with their first piece. */
  private addDelta(payload: JsonObject, events: ChatEvent[]): void {
    this.start(events);
    decodeDelta(asObject(payload.delta) ?? {}, this.blockAt(indexOf(payload)), this.state, events);
  }

  private closeBlock(index: number, events: ChatEvent[]): void {
    const block = this.open.get(index);
    if (block === undefined) return;
    this.open.delete(index);
    closeBlock(block, this.state, events);
  }

  private addMetadata(payload: JsonObject, events: ChatEvent[]): void {
    const usage = decodeUsage(payload.usage, payload.serviceTier);
    if (usage !== undefined) events.push({ type: 'usage', usage });
    addExtras(payload, events);
    this.done = this.stopped;
  }

  private stop(payload: JsonObject, events: ChatEvent[]): void {
    if (!this.started) throw upstreamFailure('malformed', PROVIDER, 'ended its answer without any content.');
    const native = asString(payload.stopReason) || undefined;
    for (const index of [...this.open.keys()]) this.closeBlock(index, events);
    if (native !== undefined && isFailedOutput(native) && !this.state.hasOutput) {
      throw upstreamFailure('malformed', PROVIDER, `ended its answer with output it could not read (${native}).`);
    }
    closeAnswer(this.state, events);
    // In a stream these arrive with the stop; a plain answer has them with the counts.
    if (payload.usage === undefined) addExtras(payload, events);
    events.push(finishEvent(native, this.state.toolCalls));
    this.stopped = true;
  }
}

function addExtras(payload: JsonObject, events: ChatEvent[]): void {
  for (const name of EXTRA_ANSWER_FIELDS) {
    const value = payload[name];
    if (value !== undefined && value !== null) events.push({ type: 'extra', scope: 'answer', name, value });
  }
}

function indexOf(payload: JsonObject): number {
  return asNumber(payload.contentBlockIndex) ?? 0;
}
