import type { ChatEvent } from './event';
import { isObject, type JsonObject, type JsonValue, present } from './json';
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

interface OpenChoice {
  text: string[] | undefined;
  readonly reasoning: string[];
  readonly reasoningDetails: JsonObject[];
  readonly refusal: string[];
  readonly toolCalls: Map<number, OpenToolCall>;
  finish: { reason: FinishReason; nativeReason?: string } | undefined;
  raw: ChatChoice['raw'];
  readonly messageExtra: Record<string, JsonValue>;
  readonly choiceExtra: Record<string, JsonValue>;
}

/** Gathers the events of one answer into a `ChatResponse`. */
export class ResponseCollector {
  private start: Extract<ChatEvent, { type: 'start' }> | undefined;
  private usage: Usage | undefined;
  private readonly choices = new Map<number, OpenChoice>();
  private readonly extra: Record<string, JsonValue> = {};

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
      this.addEvent(event);
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
    const indexes = [...this.choices.keys()].sort((a, b) => a - b);
    const { id, model, createdSeconds } = this.start ?? {};
    const choices = indexes.map((index) => closeChoice(index, this.choice(index)));
    return present({ choices, id, model, createdSeconds, usage: this.usage, extra: whereAny(this.extra) });
  }

  private choice(index: number): OpenChoice {
    let choice = this.choices.get(index);
    if (choice === undefined) {
      choice = {
        text: undefined,
        reasoning: [],
        reasoningDetails: [],
        refusal: [],
        toolCalls: new Map(),
        finish: undefined,
        raw: undefined,
        messageExtra: {},
        choiceExtra: {},
      };
      this.choices.set(index, choice);
    }
    return choice;
  }

  private tool(choiceIndex: number, toolIndex: number): OpenToolCall {
    const { toolCalls } = this.choice(choiceIndex);
    let call = toolCalls.get(toolIndex);
    if (call === undefined) {
      call = { id: '', name: '', arguments: [] };
      toolCalls.set(toolIndex, call);
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
        choice.text ??= [];
        choice.text.push(event.text);
        return;
      }
      case 'reasoning':
        this.choice(event.choice).reasoning.push(event.text);
        return;
      case 'reasoning-detail':
        this.choice(event.choice).reasoningDetails.push(event.detail);
        return;
      case 'refusal':
        this.choice(event.choice).refusal.push(event.text);
        return;
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

  private extraTarget(event: Extract<ChatEvent, { type: 'extra' }>): Record<string, JsonValue> {
    if (event.scope === 'answer') return this.extra;
    const choice = this.choice(event.choice ?? 0);
    return event.scope === 'message' ? choice.messageExtra : choice.choiceExtra;
  }
}

function closeChoice(index: number, open: OpenChoice): ChatChoice {
  return present({
    index,
    text: open.text === undefined ? null : open.text.join(''),
    finishReason: open.finish?.reason ?? 'length',
    reasoning: joined(open.reasoning),
    reasoningDetails: open.reasoningDetails.length === 0 ? undefined : open.reasoningDetails,
    refusal: joined(open.refusal),
    toolCalls: open.toolCalls.size === 0 ? undefined : closeToolCalls(open.toolCalls),
    nativeFinishReason: open.finish?.nativeReason,
    raw: open.raw,
    messageExtra: whereAny(open.messageExtra),
    choiceExtra: whereAny(open.choiceExtra),
  });
}

const joined = (pieces: readonly string[]) => (pieces.length === 0 ? undefined : pieces.join(''));

function closeToolCalls(calls: ReadonlyMap<number, OpenToolCall>): ToolCall[] {
  const ordered = [...calls.entries()].sort(([a], [b]) => a - b);
  return ordered.map(([, call]) => ({ ...call, arguments: call.arguments.join('') }));
}

function mergeExtra(target: Record<string, JsonValue>, name: string, value: JsonValue): void {
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

/** The fields, if there are any. */
function whereAny<T extends object>(fields: T): T | undefined {
  for (const _ in fields) return fields;
  return undefined;
}
