import type { ChatEvent } from './event';
import { isObject, type JsonObject, type JsonValue } from './json';
import type { ToolCall } from './request';
import type { ChatChoice, ChatResponse, FinishReason } from './response';
import type { Usage } from './usage';

/** Partial vendor objects: field → members whose strings are appended, not replaced. */
const APPENDED_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  audio: ['data', 'transcript'],
  function_call: ['arguments'],
};

interface OpenToolCall {
  id: string;
  name: string;
  readonly arguments: string[];
  custom?: boolean;
  signature?: string;
}

type Extra = Record<string, JsonValue>;

class OpenChoice {
  // Pieces of texts: joined at the end, they take less memory than a growing text.
  text: string[] | undefined;
  reasoning: string[] | undefined;
  reasoningDetails: JsonObject[] | undefined;
  refusal: string[] | undefined;
  toolCalls: Map<number, OpenToolCall> | undefined;
  finish: { reason: FinishReason; nativeReason?: string } | undefined;
  raw: ChatChoice['raw'];
  messageExtra: Extra | undefined;
  choiceExtra: Extra | undefined;

  constructor(readonly index: number) {}
}

/** Gathers the events of one answer into a `ChatResponse`. */
export class ResponseCollector {
  private start: Extract<ChatEvent, { type: 'start' }> | undefined;
  private usage: Usage | undefined;
  private readonly choices = new Map<number, OpenChoice>();
  /** Choice of the last event. */
  private current: OpenChoice | undefined;
  private extra: Extra | undefined;

  /** Length of the text so far. */
  characters = 0;

  /** Texts beyond `maxCharacters` are cut. */
  constructor(private readonly maxCharacters = Number.POSITIVE_INFINITY) {}

  /** True if texts were cut. */
  get isCut(): boolean {
    return this.characters > this.maxCharacters;
  }

  add(events: readonly ChatEvent[]): void {
    for (const event of events) {
      if ('text' in event) {
        this.characters += event.text.length;
        if (this.characters > this.maxCharacters) continue;
      }
      const { current } = this;
      if (event.type === 'text' && current?.text !== undefined && current.index === event.choice) {
        current.text.push(event.text);
      } else this.addEvent(event);
    }
  }

  /** True when there is at least one choice and every choice was finished. */
  get complete(): boolean {
    if (this.choices.size === 0) return false;
    for (const choice of this.choices.values()) if (choice.finish === undefined) return false;
    return true;
  }

  /** The answer so far. A choice cut off before its finish reads `length`, never as complete. */
  response(): ChatResponse {
    const { id, model, createdSeconds } = this.start ?? NOT_STARTED;
    const choices = [...this.choices.values()].sort((a, b) => a.index - b.index).map(closeChoice);
    return { choices, id, model, createdSeconds, usage: this.usage, extra: this.extra };
  }

  private choice(index: number): OpenChoice {
    let choice = this.choices.get(index);
    if (choice === undefined) {
      choice = new OpenChoice(index);
      this.choices.set(index, choice);
    }
    this.current = choice;
    return choice;
  }

  private tool(choiceIndex: number, toolIndex: number): OpenToolCall {
    const choice = this.choice(choiceIndex);
    choice.toolCalls ??= new Map();
    let call = choice.toolCalls.get(toolIndex);
    if (call === undefined) {
      call = { id: '', name: '', arguments: [] };
      choice.toolCalls.set(toolIndex, call);
    }
    return call;
  }

  private addEvent(event: ChatEvent): void {
    switch (event.type) {
      case 'start':
        this.start ??= event;
        return;
      case 'text': {
        const choice = this.choice(event.choice);
        choice.text = appended(choice.text, event.text);
        return;
      }
      case 'reasoning': {
        const choice = this.choice(event.choice);
        choice.reasoning = appended(choice.reasoning, event.text);
        return;
      }
      case 'reasoning-detail': {
        const choice = this.choice(event.choice);
        choice.reasoningDetails ??= [];
        choice.reasoningDetails.push(event.detail);
        return;
      }
      case 'refusal': {
        const choice = this.choice(event.choice);
        choice.refusal = appended(choice.refusal, event.text);
        return;
      }
      case 'tool-call': {
        const call = this.tool(event.choice, event.toolIndex);
        call.id = event.id;
        call.name = event.name;
        if (event.custom !== undefined) call.custom = event.custom;
        if (event.signature !== undefined) call.signature = event.signature;
        return;
      }
      case 'tool-arguments':
        this.tool(event.choice, event.toolIndex).arguments.push(event.text);
        return;
      case 'finish':
        this.choice(event.choice).finish = event;
        return;
      case 'raw-message':
        this.choice(event.choice).raw = { format: event.format, value: event.value };
        return;
      case 'usage':
        this.usage = event.usage;
        return;
      case 'extra':
        mergeExtra(this.extraTarget(event), event.name, event.value);
    }
  }

  private extraTarget(event: Extract<ChatEvent, { type: 'extra' }>): Extra {
    if (event.scope === 'answer') {
      this.extra ??= {};
      return this.extra;
    }
    const choice = this.choice(event.choice ?? 0);
    const name = event.scope === 'message' ? 'messageExtra' : 'choiceExtra';
    choice[name] ??= {};
    return choice[name];
  }
}

function appended(pieces: string[] | undefined, piece: string): string[] {
  if (pieces === undefined) return [piece];
  pieces.push(piece);
  return pieces;
}

const NOT_STARTED: Pick<ChatResponse, 'id' | 'model' | 'createdSeconds'> = {};

function closeChoice(open: OpenChoice): ChatChoice {
  const { index, text, finish, reasoning, reasoningDetails, refusal, raw, messageExtra, choiceExtra } = open;
  return {
    index,
    text: text === undefined ? null : text.join(''),
    finishReason: finish?.reason ?? 'length',
    reasoning: reasoning?.join(''),
    reasoningDetails,
    refusal: refusal?.join(''),
    toolCalls: open.toolCalls && closeToolCalls(open.toolCalls),
    nativeFinishReason: finish?.nativeReason,
    raw,
    messageExtra,
    choiceExtra,
  };
}

function closeToolCalls(calls: ReadonlyMap<number, OpenToolCall>): ToolCall[] {
  const ordered = [...calls.entries()].sort(([a], [b]) => a - b);
  return ordered.map(([, call]) => ({ ...call, arguments: call.arguments.join('') }));
}

function mergeExtra(target: Extra, name: string, value: JsonValue): void {
  const before = Object.hasOwn(target, name) ? target[name] : undefined;
  const merged = isObject(before) && isObject(value) ? mergeObjects(name, before, value) : value;
  Object.defineProperty(target, name, { value: merged, enumerable: true, configurable: true, writable: true });
}

function mergeObjects(name: string, before: JsonObject, value: JsonObject): JsonObject {
  if (name === 'logprobs') return mergeMembers(before, value, appendArrays);
  const appended = Object.hasOwn(APPENDED_MEMBERS, name) ? APPENDED_MEMBERS[name] : undefined;
  if (appended === undefined) return value;
  return mergeMembers(before, value, (member, a, b) =>
    typeof a === 'string' && typeof b === 'string' && appended.includes(member) ? a + b : b,
  );
}

function appendArrays(_member: string, a: JsonValue, b: JsonValue): JsonValue {
  if (Array.isArray(a)) return Array.isArray(b) ? [...a, ...b] : a;
  return b;
}

function mergeMembers(
  before: JsonObject,
  value: JsonObject,
  merge: (member: string, a: JsonValue, b: JsonValue) => JsonValue,
): JsonObject {
  const merged = { ...before };
  for (const member of Object.keys(value)) {
    const b = value[member] ?? null;
    merged[member] = member in before ? merge(member, before[member] ?? null, b) : b;
  }
  return merged;
}
