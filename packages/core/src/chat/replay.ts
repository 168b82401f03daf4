import type { ChatEvent, EventBatch, WirePart } from './event';
import type { JsonValue } from './json';
import type { ChatChoice, ChatResponse } from './response';

/** A complete answer; its events are made for those who read them. */
export class WholeBatch implements EventBatch {
  private made: readonly ChatEvent[] | undefined;

  constructor(
    readonly whole: ChatResponse,
    readonly wire: WirePart,
  ) {}

  get events(): readonly ChatEvent[] {
    this.made ??= replayResponse(this.whole).events;
    return this.made;
  }
}

/** A complete answer as the events that collect into the very same answer. Used for cache hits and followers. */
export function replayResponse(response: ChatResponse): EventBatch {
  const events: ChatEvent[] = [
    { type: 'start', id: response.id, model: response.model, createdSeconds: response.createdSeconds },
  ];
  pushExtras(events, 'answer', response.extra);
  for (const choice of response.choices) pushChoice(events, choice);
  if (response.usage !== undefined) events.push({ type: 'usage', usage: response.usage });
  return { events };
}

function pushChoice(events: ChatEvent[], from: ChatChoice): void {
  const choice = from.index;
  if (from.raw !== undefined) events.push({ type: 'raw-message', choice, ...from.raw });
  for (const detail of from.reasoningDetails ?? []) events.push({ type: 'reasoning-detail', choice, detail });
  if (from.reasoning !== undefined) events.push({ type: 'reasoning', choice, text: from.reasoning });
  if (from.text !== null) events.push({ type: 'text', choice, text: from.text });
  if (from.refusal !== undefined) events.push({ type: 'refusal', choice, text: from.refusal });
  for (const [toolIndex, call] of (from.toolCalls ?? []).entries()) {
    const { arguments: text, ...head } = call;
    events.push({ type: 'tool-call', choice, toolIndex, ...head });
    if (text !== '') events.push({ type: 'tool-arguments', choice, toolIndex, text });
  }
  pushExtras(events, 'message', from.messageExtra, choice);
  pushExtras(events, 'choice', from.choiceExtra, choice);
  events.push({ type: 'finish', choice, reason: from.finishReason, nativeReason: from.nativeFinishReason });
}

function pushExtras(
  events: ChatEvent[],
  scope: 'answer' | 'choice' | 'message',
  extra: Readonly<Record<string, JsonValue>> | undefined,
  choice?: number,
): void {
  for (const name in extra) {
    const value = extra[name];
    if (value !== undefined) events.push({ type: 'extra', scope, choice, name, value });
  }
}

/** Characters of one piece of a text that is too long to be written at once. */
const PIECE = 64 * 1024;

/** Splits a large batch into equivalent small ones. */
export function splitBatch({ events }: EventBatch): EventBatch[] {
  const batches: EventBatch[] = [];
  for (const event of events) {
    if (!('text' in event) || event.text.length <= PIECE) batches.push({ events: [event] });
    else for (const text of piecesOf(event.text)) batches.push({ events: [{ ...event, text }] });
  }
  return batches;
}

function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const end = Math.min(text.length, at + PIECE);
    // Both halves of a character stay together.
    const isHalf = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    yield text.slice(at, isHalf ? end - 1 : end);
    at = isHalf ? end - 1 : end;
  }
}
