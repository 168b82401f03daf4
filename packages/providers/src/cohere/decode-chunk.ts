import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { asIndex, asObject, asString } from '../translation/read-json';
import { ToolNames } from '../translation/vendor-names';
import type { PayloadDecoder } from '../transport/payload-stream-decoder';
import { upstreamAnswerError, upstreamFailure } from '../transport/upstream-failure';
import {
  type AnswerState,
  addArguments,
  addContent,
  addText,
  beginCall,
  CHOICE,
  createAnswerState,
  endCall,
  listOf,
  type OpenCall,
} from './decode-delta';
import { decodeErrorObject } from './decode-error';
import { decodeUsage } from './decode-usage';
import { decodeFinishReason, failedStatus } from './finish-reasons';
import { PROVIDER, TOOL_NAME_RULE } from './wire';

type Handler = (message: JsonObject, payload: JsonObject, events: ChatEvent[]) => void;

/** The events of one answer, streamed or whole. Source: https://docs.cohere.com/docs/streaming */
export class ChatDecoder implements PayloadDecoder {
  private readonly state: AnswerState;
  /** Calls by the vendor's index, which not every event has. */
  private readonly open = new Map<number, OpenCall>();
  private latest: OpenCall | undefined;
  private started = false;
  /** By the type of the event; `message` is what came of it. */
  private readonly handlers: Readonly<Record<string, Handler>> = {
    'content-start': (message, _payload, events) => this.addContents(message, events),
    'content-delta': (message, _payload, events) => this.addContents(message, events),
    'tool-plan-delta': (message, _payload, events) => addText('reasoning', asString(message.tool_plan), events),
    'tool-call-start': (message, payload, events) => this.beginCalls(message, payload, events),
    'tool-call-delta': (message, payload, events) => this.addArguments(message, payload, events),
    'tool-call-end': (_message, payload, events) => this.endCall(payload, events),
    'citation-start': (message) => void this.state.citations.push(...listOf(message.citations)),
  };
  done = false;

  constructor(request: Pick<ChatRequest, 'tools' | 'messages'>) {
    this.state = createAnswerState(new ToolNames(request, TOOL_NAME_RULE));
  }

  /** One event of a stream. Kinds that are not known are skipped. */
  decode(payload: JsonObject, events: ChatEvent[]): void {
    const type = asString(payload.type) ?? '';
    const error = type === '' ? untypedError(payload) : undefined;
    if (error !== undefined) throw error;
    const delta = asObject(payload.delta) ?? {};
    if (type === 'message-start') this.start(asString(payload.id), events);
    else if (type === 'message-end') this.stop(delta, events);
    else if (Object.hasOwn(this.handlers, type)) {
      this.start(undefined, events);
      this.handlers[type]?.(asObject(delta.message) ?? {}, payload, events);
    }
  }

  /** Only `message-end` completes an answer. */
  finish(): boolean {
    return this.done;
  }

  /** A whole answer. */
  decodeWhole(body: JsonObject, events: ChatEvent[]): void {
    const message = asObject(body.message) ?? {};
    this.start(asString(body.id), events);
    addText('reasoning', asString(message.tool_plan), events);
    this.addContents(message, events);
    for (const call of listOf(message.tool_calls)) endCall(beginCall(call, this.state, events), events);
    this.state.citations.push(...listOf(message.citations));
    this.stop(body, events);
  }

  private start(id: string | undefined, events: ChatEvent[]): void {
    if (this.started) return;
    this.started = true;
    events.push({ type: 'start', id: id || undefined });
  }

  private addContents(message: JsonObject, events: ChatEvent[]): void {
    for (const content of listOf(message.content)) addContent(content, events);
  }

  private beginCalls(message: JsonObject, { index }: JsonObject, events: ChatEvent[]): void {
    for (const call of listOf(message.tool_calls)) {
      this.latest = beginCall(call, this.state, events);
      this.open.set(asIndex(index) ?? NO_INDEX, this.latest);
    }
  }

  private addArguments(message: JsonObject, payload: JsonObject, events: ChatEvent[]): void {
    const open = this.callOf(payload);
    for (const call of listOf(message.tool_calls)) if (open !== undefined) addArguments(call, open, events);
  }

  private endCall(payload: JsonObject, events: ChatEvent[]): void {
    const open = this.callOf(payload);
    if (open !== undefined) endCall(open, events);
  }

  private callOf({ index }: JsonObject): OpenCall | undefined {
    return this.open.get(asIndex(index) ?? NO_INDEX) ?? this.latest;
  }

  /** `ending`: a whole answer, or the last event's delta. */
  private stop(ending: JsonObject, events: ChatEvent[]): void {
    const usage = decodeUsage(ending.usage);
    if (usage !== undefined) events.push({ type: 'usage', usage });
    const native = asString(ending.finish_reason) ?? '';
    const status = failedStatus(native);
    if (status !== undefined) {
      const message = asString(ending.error) ?? `The answer failed (${native}).`;
      throw upstreamAnswerError({ provider: PROVIDER, status, message });
    }
    if (!this.started) throw upstreamFailure('malformed', PROVIDER, 'ended its answer without any content.');
    const { citations, toolCalls } = this.state;
    if (citations.length > 0) {
      events.push({ type: 'extra', scope: 'message', choice: CHOICE, name: 'citations', value: citations });
    }
    const reason = decodeFinishReason(native, toolCalls > 0);
    events.push({ type: 'finish', choice: CHOICE, reason, nativeReason: native || undefined });
    this.done = true;
  }
}

const NO_INDEX = -1;

/** Errors within a stream are as outside of it: `{"message": "…"}`. */
function untypedError(payload: JsonObject): GatewayError | undefined {
  return decodeErrorObject(typeof payload.message === 'string' ? { ...payload, object: 'error' } : payload);
}
