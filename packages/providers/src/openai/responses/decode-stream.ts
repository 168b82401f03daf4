import { type ChatEvent, isOutputEvent } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import { countBlocks, countOutput } from '@llm0/core/pricing/count-output';
import { encodeSse } from '@llm0/core/sse/encode-sse';
import { asNumber, asObject, asObjects, asString } from '../../translation/read-json';
import type { PayloadDecoder, PayloadText } from '../../transport/payload-stream-decoder';
import { decodeErrorObject } from '../decode-error';
import { callEvent, endEvents, failureOf, messageEvents, outputEvents, startEvents } from './decode-answer';
import { BETWEEN_PARTS, WIRE_FORMAT } from './wire';

/** Events about the whole answer: the gateway writes its own, with its own id. */
const LIFECYCLE: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
]);
const ENDS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);
/** Number of events that the gateway sends before the forwarded ones. */
const FIRST_SEQUENCE = 2;

/**
 * Events of one streamed answer. Those between start and end may be forwarded, renumbered if needed. Source:
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
export class ResponsesDecoder implements PayloadDecoder {
  private started = false;
  private sequence = FIRST_SEQUENCE;
  /** The vendor's index of an item → the call it is. */
  private readonly calls = new Map<number, number>();
  private readonly withPieces = new Set<number>();
  private reasoningParts = 0;
  /** True if pieces of the open reasoning arrived. */
  private isThoughtTold = false;
  /** True if pieces of the open message arrived. */
  private isTextTold = false;
  /** True if any output arrived before the end. */
  private hasTold = false;
  /** UTF-8 bytes of whole items, of their parts, and of the parts' texts: each may be all of the answer. */
  private readonly wholes = { items: 0, parts: 0, texts: 0 };
  done = false;
  /** Events for a caller of the same format, with the whole answer at the end. */
  readonly forward: NonNullable<PayloadDecoder['forward']> = this;
  readonly format = WIRE_FORMAT;
  answer: JsonObject | undefined;

  constructor(private readonly provider: string) {}

  decode(payload: JsonObject, events: ChatEvent[]): void {
    const type = asString(payload.type) ?? '';
    if (type === 'error' || (type === '' && payload.error !== undefined)) this.fail(payload);
    const response = asObject(payload.response);
    if (response !== undefined && LIFECYCLE.has(type)) this.decodeWhole(type, response, events);
    else {
      const before = events.length;
      const decode = DECODERS.get(type);
      if (decode !== undefined) decode(this, payload, events);
      else if (type.endsWith('.delta')) events.push({ type: 'unread', bytes: countPiece(payload) });
      if (type.endsWith('.done')) this.countWhole(type, payload);
      for (let at = before; at < events.length; at++) this.hasTold ||= isOutputEvent(events[at] as ChatEvent);
    }
  }

  addText(event: ChatEvent, events: ChatEvent[]): void {
    this.isTextTold = true;
    events.push(event);
  }

  /** Only its own last event ends an answer. */
  finish(): boolean {
    return this.done;
  }

  addCall(payload: JsonObject, events: ChatEvent[]): void {
    const item = asObject(payload.item) ?? {};
    const toolIndex = this.calls.size;
    const event = callEvent(item, toolIndex);
    if (event !== undefined) {
      this.calls.set(asNumber(payload.output_index) ?? toolIndex, toolIndex);
      events.push(event);
    } else if (item.type === 'reasoning') {
      this.isThoughtTold = false;
      events.push(thoughtEvent('begin', item));
    } else if (item.type === 'message') this.isTextTold = false;
    else {
      // A built-in tool's result is visible output, so no other target may start over.
      events.push({ type: 'raw-message', choice: 0, format: WIRE_FORMAT, value: { output: [item] } });
    }
  }

  addArguments(payload: JsonObject, events: ChatEvent[], text: string): void {
    const toolIndex = this.calls.get(asNumber(payload.output_index) ?? -1);
    if (toolIndex === undefined || text === '') return;
    this.withPieces.add(toolIndex);
    events.push({ type: 'tool-arguments', choice: 0, toolIndex, text });
  }

  /** Completes calls without pieces. */
  closeArguments(payload: JsonObject, events: ChatEvent[], text: string): void {
    const toolIndex = this.calls.get(asNumber(payload.output_index) ?? -1);
    if (toolIndex !== undefined && !this.withPieces.has(toolIndex)) this.addArguments(payload, events, text);
  }

  private countWhole(type: string, payload: JsonObject): void {
    if (type === 'response.output_item.done') this.wholes.items += countBlocks([payload.item ?? null]);
    else if (type.endsWith('_part.done')) this.wholes.parts += countBlocks([payload.part ?? null]);
    else this.wholes.texts += countPiece(payload);
  }

  beginReasoningPart(events: ChatEvent[]): void {
    events.push(thoughtEvent('part', {}));
    if (this.reasoningParts > 0) events.push({ type: 'reasoning', choice: 0, text: BETWEEN_PARTS });
    this.reasoningParts += 1;
  }

  addThought(events: ChatEvent[], text: string): void {
    this.isThoughtTold = true;
    if (text !== '') events.push({ type: 'reasoning', choice: 0, text });
  }

  endItem(payload: JsonObject, events: ChatEvent[]): void {
    const item = asObject(payload.item) ?? {};
    if (item.type === 'message' && !this.isTextTold) events.push(...messageEvents(item));
    const whole = asString(item.arguments ?? item.input);
    if (whole !== undefined) this.closeArguments(payload, events, whole);
    if (item.type !== 'reasoning') return;
    // Reasoning without pieces.
    for (const { text } of this.isThoughtTold ? [] : asObjects(item.summary)) {
      this.beginReasoningPart(events);
      this.addThought(events, asString(text) ?? '');
    }
    events.push(thoughtEvent('end', item));
  }

  private decodeWhole(type: string, response: JsonObject, events: ChatEvent[]): void {
    const failure = failureOf(this.provider, response);
    if (failure !== undefined) throw failure;
    if (!this.started) events.push(...startEvents(response));
    this.started = true;
    if (!ENDS.has(type)) return;
    if (!this.hasTold) events.push(...outputEvents(response));
    events.push({ type: 'unread', bytes: Math.max(...Object.values(this.wholes)), isWhole: true });
    events.push(...endEvents(response));
    this.answer = response;
    this.done = true;
  }

  private fail(payload: JsonObject): never {
    const { type: _type, sequence_number: _number, ...flat } = payload;
    const error = asObject(payload.error) ?? flat;
    throw (
      decodeErrorObject(this.provider, { error }) ??
      failureOf(this.provider, { status: 'failed' }) ??
      new Error('an error event is always a failure')
    );
  }

  /** The event for a caller of the same format; empty if the gateway writes its own. */
  encode(payload: JsonObject, { data }: PayloadText): string {
    const type = asString(payload.type);
    if (type === undefined || LIFECYCLE.has(type) || !this.started) return '';
    const sequence = this.sequence;
    this.sequence += 1;
    if (payload.sequence_number === sequence) return encodeSse(data, type);
    return encodeSse(JSON.stringify({ ...payload, sequence_number: sequence }), type);
  }
}

/** Bytes of a piece or a whole text, under any name. */
function countPiece({
  delta,
  item_id: _item,
  obfuscation: _padding,
  logprobs: _logprobs,
  ...others
}: JsonObject): number {
  return countOutput(delta) || countOutput(others);
}

/** Without the text of its pieces. */
function thoughtEvent(
  step: NativeItem['step'],
  { summary: _summary, content: _content, ...item }: JsonObject,
): NativeItem {
  return { type: 'native-item', choice: 0, format: WIRE_FORMAT, step, item };
}

type NativeItem = Extract<ChatEvent, { type: 'native-item' }>;
type Decode = (decoder: ResponsesDecoder, payload: JsonObject, events: ChatEvent[]) => void;

const deltaOf = (payload: JsonObject): string => asString(payload.delta) ?? '';

function textDecoder(type: 'text' | 'refusal'): Decode {
  return (decoder, payload, events) => {
    const text = deltaOf(payload);
    if (text !== '') decoder.addText({ type, choice: 0, text }, events);
  };
}

const addPiece: Decode = (decoder, payload, events) => decoder.addArguments(payload, events, deltaOf(payload));

const addThought: Decode = (decoder, payload, events) => decoder.addThought(events, deltaOf(payload));

const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ['response.output_text.delta', textDecoder('text')],
  ['response.refusal.delta', textDecoder('refusal')],
  ['response.reasoning_summary_text.delta', addThought],
  ['response.reasoning_text.delta', addThought],
  ['response.reasoning_summary_part.added', (decoder, _payload, events) => decoder.beginReasoningPart(events)],
  ['response.output_item.added', (decoder, payload, events) => decoder.addCall(payload, events)],
  ['response.output_item.done', (decoder, payload, events) => decoder.endItem(payload, events)],
  ['response.function_call_arguments.delta', addPiece],
  ['response.custom_tool_call_input.delta', addPiece],
  [
    'response.function_call_arguments.done',
    (decoder, payload, events) => decoder.closeArguments(payload, events, asString(payload.arguments) ?? ''),
  ],
  [
    'response.custom_tool_call_input.done',
    (decoder, payload, events) => decoder.closeArguments(payload, events, asString(payload.input) ?? ''),
  ],
]);
