import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { ownItemId } from '@llm0/core/conversations/own-ids';
import { WIRE_FORMAT } from '@llm0/providers/openai/responses/wire';
import { isObject } from '../read-fields';
import type { EventWriter } from './event-writer';
import { type ToolPlace, toolPlaces } from './namespaces';
import { NativeThought } from './native-thought';
import { CallItem, MessageItem, type OutputItem, ReasoningItem } from './open-items';

/**
 * Builds an answer's items from our events, and writes the format's events with a writer. Numbers items in starting
 * order; calls stay open to the end, because their pieces may interleave.
 */
export class OutputItems {
  private readonly items: OutputItem[] = [];
  private readonly calls = new Map<number, CallItem>();
  private message: MessageItem | undefined;
  private reasoning: ReasoningItem | NativeThought | undefined;
  /** Parts of the vendor's own thoughts so far. */
  private thoughtParts = 0;
  private readonly messageExtra: JsonObject = {};
  private logprobs: JsonValue[] = [];
  private places: ReadonlyMap<string, ToolPlace> | undefined;

  constructor(
    private readonly requestId: string,
    private readonly options: { readonly writer?: EventWriter; readonly request?: ChatRequest } = {},
  ) {}

  private get writer(): EventWriter | undefined {
    return this.options.writer;
  }

  /** Takes an event of the first choice; this format has no others. */
  add(event: ChatEvent): void {
    if (!('choice' in event) || (event.choice ?? 0) !== 0) return;
    switch (event.type) {
      case 'text':
        this.openMessage().addText('output_text', event.text);
        break;
      case 'refusal':
        this.openMessage().addText('refusal', event.text);
        break;
      case 'reasoning':
        this.openReasoning().addText(event.text);
        break;
      case 'reasoning-detail':
        this.addDetail(event.detail);
        break;
      case 'native-item':
        if (event.format === WIRE_FORMAT) this.addNative(event);
        break;
      case 'tool-call':
        this.openCall(event);
        break;
      case 'tool-arguments':
        this.calls.get(event.toolIndex)?.addText(event.text);
        break;
      case 'extra':
        this.addExtra(event);
    }
  }

  /** Ends all items. `isCut`: the last one is not whole. Gives the items in their final form. */
  close(isCut: boolean): JsonObject[] {
    const last = this.items.at(-1);
    this.endMessage(isCut && last === this.message);
    for (const item of this.items) item.close(isCut && item === last ? 'incomplete' : 'completed');
    return this.toJson();
  }

  /** Completes the written items from the answer's own ones; `others` are still unwritten. */
  goOn(native: readonly JsonObject[]): {
    readonly written: readonly JsonObject[];
    readonly others: readonly JsonObject[];
  } {
    const others = [...native];
    for (const item of this.items) {
      const said = item.toJson();
      const at = others.findIndex((own) => isSameItem(own, said));
      const [own] = at === -1 ? [] : others.splice(at, 1);
      if (own !== undefined && item instanceof MessageItem) item.goOn(own);
      if (own !== undefined && item instanceof NativeThought) item.goOn(own);
      item.close(own?.status === 'incomplete' ? 'incomplete' : 'completed');
    }
    return { written: this.toJson(), others };
  }

  /** The items so far. */
  toJson(): JsonObject[] {
    return this.items.map((item) => item.toJson());
  }

  private openMessage(): MessageItem {
    if (this.message !== undefined) return this.message;
    this.endReasoning();
    this.message = this.begin('msg', (id, index) => new MessageItem(id, index, this.writer));
    return this.message;
  }

  private addDetail(detail: JsonObject): void {
    const reasoning = this.openReasoning();
    if (reasoning instanceof ReasoningItem) reasoning.addDetail(detail);
  }

  private openReasoning(): ReasoningItem | NativeThought {
    if (this.reasoning !== undefined) return this.reasoning;
    this.endMessage(false);
    this.reasoning = this.begin('rs', (id, index) => new ReasoningItem(id, index, this.writer));
    return this.reasoning;
  }

  /** Reasoning of this format: keeps its id, its parts and its sealed content. */
  private addNative({ step, item }: Extract<ChatEvent, { type: 'native-item' }>): void {
    if (step === 'begin') {
      this.endMessage(false);
      this.endReasoning();
      this.reasoning = this.begin('rs', (id, index) => new NativeThought(item, { id, index }, this.writer));
    } else if (!(this.reasoning instanceof NativeThought)) return;
    else if (step === 'part') this.reasoning.beginPart(this.thoughtParts++ > 0);
    else {
      this.reasoning.finish(item);
      this.reasoning = undefined;
    }
  }

  private openCall(event: Extract<ChatEvent, { type: 'tool-call' }>): void {
    this.endMessage(false);
    this.endReasoning();
    const kind = event.custom === true ? 'ctc' : 'fc';
    this.places ??= toolPlaces(this.options.request?.wire?.body);
    const place = this.places.get(event.name);
    const call = this.begin(kind, (id, index) => new CallItem({ id, index, call: event, place }, this.writer));
    this.calls.set(event.toolIndex, call);
  }

  private begin<T extends OutputItem>(kind: string, make: (id: string, index: number) => T): T {
    const index = this.items.length;
    const item = make(ownItemId(kind, this.requestId, index), index);
    this.items.push(item);
    item.open();
    return item;
  }

  private endMessage(isCut: boolean): void {
    if (this.message === undefined) return;
    this.message.addMarks({ logprobs: this.logprobs, extra: this.messageExtra });
    this.message.close(isCut ? 'incomplete' : 'completed');
    this.message = undefined;
    this.logprobs = [];
  }

  private endReasoning(): void {
    this.reasoning?.close('completed');
    this.reasoning = undefined;
  }

  private addExtra({ scope, name, value }: Extract<ChatEvent, { type: 'extra' }>): void {
    if (scope === 'message') this.messageExtra[name] = value;
    if (scope !== 'choice' || name !== 'logprobs' || !isObject(value)) return;
    for (const list of [value.content, value.refusal]) if (Array.isArray(list)) this.logprobs.push(...list);
  }
}

/** Vendors may number items differently at the end. */
const isSameItem = (one: JsonObject, other: JsonObject): boolean =>
  one.type === other.type && (one.call_id ?? '') === (other.call_id ?? '');
