import type { ChatEvent } from '../../chat/event';
import { isObject, type JsonObject, type JsonValue, present } from '../../chat/json';
import type { TextKind } from '../piece-window';
import type { GuardrailPart } from '../policy';
import type { RequestGuard } from '../request-guard';
import { Channel } from './channel';
import { guardBlocks, guardName, guardTime, guardUsage, guardValue, LOGPROBS } from './guard-response';
import { GuardedTexts } from './guard-texts';
import { PIECES, type PieceField, piecesOfDetail, piecesOfExtra, withJudgedNames, withPieces } from './piece-fields';

interface OpenChoice {
  /** By name; arguments by tool. */
  readonly channels: Map<string, Channel>;
  /** Reasoning blocks behind text that their channel still holds. */
  details: JsonObject[];
  readonly customTools: Set<number>;
  /** Released once nothing follows: later text of the vendor continues before it. */
  end?: ChatEvent;
}

/** Work that waits for other turns; most runs at once. */
type Added = Promise<void> | undefined;
type TextEvent = Extract<ChatEvent, { readonly text: string; readonly choice: number }>;

/** Texts that arrive beside others, and wait for their own end. */
const WAITING = /^(?:tool|detail|extra) /;

/**
 * Judges an answer's events in a stream, for rules that need only a window. Holds text that may become a find and
 * releases it at the end. Throws `guardrail_blocked`.
 */
export class AnswerGuard {
  private readonly choices = new Map<number, OpenChoice>();
  private readonly texts: GuardedTexts;
  private out: ChatEvent[] = [];
  /** Events without text after a choice's end. */
  private readonly behind: ChatEvent[] = [];

  constructor(private readonly guard: RequestGuard) {
    this.texts = new GuardedTexts(guard, 'output');
  }

  push(events: readonly ChatEvent[]): readonly ChatEvent[] | Promise<readonly ChatEvent[]> {
    for (const [index, event] of events.entries()) {
      const added = this.add(event);
      if (added !== undefined) return this.pushBehind(added, events, index + 1);
    }
    return this.taken();
  }

  private async pushBehind(begun: Promise<void>, events: readonly ChatEvent[], from: number) {
    await begun;
    for (let index = from; index < events.length; index++) {
      const added = this.add(events[index] as ChatEvent);
      if (added !== undefined) await added;
    }
    return this.taken();
  }

  /** Ends the answer. */
  async end(): Promise<readonly ChatEvent[]> {
    for (const [index, choice] of this.choices) await this.close(choice, index);
    for (const { end } of this.choices.values()) if (end !== undefined) this.out.push(end);
    this.out.push(...this.behind.splice(0));
    return this.taken();
  }

  private taken(): readonly ChatEvent[] {
    const { out } = this;
    this.out = [];
    return out;
  }

  private add(event: ChatEvent): Added {
    switch (event.type) {
      case 'text':
      case 'reasoning':
      case 'refusal':
        return this.addText(event);
      case 'tool-call':
        return this.addCall(event);
      case 'tool-arguments': {
        const kind: TextKind = this.open(event.choice).customTools.has(event.toolIndex) ? 'plain' : 'json';
        return this.pass(event, { name: `tool ${event.toolIndex}`, part: 'tool_arguments', kind });
      }
      case 'reasoning-detail': {
        const choice = this.open(event.choice);
        choice.details.push(event.detail);
        return this.giveDetails(event.choice, choice);
      }
      case 'start':
      case 'finish':
      case 'raw-message':
        return this.addWhole(event);
      case 'usage':
        return this.addUsage(event);
      case 'native-item':
        return this.addItem(event);
      case 'extra':
        return this.addExtra(event);
      case 'unread':
        return undefined;
    }
  }

  private addUsage(event: Extract<ChatEvent, { type: 'usage' }>): Added {
    // After an end, together with it.
    const out = this.hasEnded() ? this.behind : this.out;
    if (event.usage.serviceTier !== undefined) return this.addTier(event, out);
    out.push(event);
    return undefined;
  }

  private async addTier(event: Extract<ChatEvent, { type: 'usage' }>, out: ChatEvent[]): Promise<void> {
    out.push({ ...event, usage: await guardUsage(this.texts, event.usage) });
  }

  private async addWhole(event: Extract<ChatEvent, { type: 'start' | 'finish' | 'raw-message' }>): Promise<void> {
    if (event.type === 'start') {
      const createdSeconds = await guardTime(this.texts, event.createdSeconds);
      const start = createdSeconds === event.createdSeconds ? event : { ...event, createdSeconds };
      this.out.push(await this.withTexts(start, ['id', 'model']));
    } else if (event.type === 'finish') this.open(event.choice).end = await this.withTexts(event, ['nativeReason']);
    else this.out.push({ ...event, ...(await guardBlocks(this.guard, this.texts, event)) });
  }

  private hasEnded(): boolean {
    return [...this.choices.values()].some(({ end }) => end !== undefined);
  }

  /** The event with judged identifiers. */
  private async withTexts<E extends ChatEvent>(event: E, names: readonly (keyof E)[]): Promise<E> {
    let judged = event;
    for (const name of names) {
      const given = event[name];
      const passed = typeof given === 'string' ? await this.texts.id(given) : given;
      if (passed !== given) judged = { ...judged, [name]: passed };
    }
    return judged;
  }

  private addText(event: TextEvent): Added {
    const left = this.leaveOthers(event.choice, event.type);
    return left === undefined ? this.passText(event) : left.then(() => this.passText(event));
  }

  private passText(event: TextEvent): Added {
    return this.pass(event, { name: event.type, part: 'assistant', kind: 'plain' });
  }

  private pass(
    event: TextEvent,
    { name, part, kind }: { readonly name: string; readonly part: GuardrailPart; readonly kind: TextKind },
  ): Added {
    const choice = this.open(event.choice);
    let channel = choice.channels.get(name);
    if (channel === undefined) {
      channel = new Channel(this.guard, part, kind, (text) => ({ ...event, text }));
      choice.channels.set(name, channel);
    }
    const passed = channel.push(event.text);
    return typeof passed === 'string'
      ? this.give(event, passed, choice)
      : passed.then((text) => this.give(event, text, choice));
  }

  /** `text`: the released text. */
  private give(event: TextEvent, text: string, choice: OpenChoice): Added {
    if (text !== '') this.out.push(text === event.text ? event : { ...event, text });
    else if (event.text === '') this.out.push(event);
    return choice.details.length > 0 ? this.giveDetails(event.choice, choice) : undefined;
  }

  private async addCall(event: Extract<ChatEvent, { type: 'tool-call' }>): Promise<void> {
    await this.leaveOthers(event.choice, event.type);
    const id = await this.texts.id(event.id);
    const name = await this.texts.id(event.name);
    if (event.custom === true) this.open(event.choice).customTools.add(event.toolIndex);
    const signature = event.signature && (await this.texts.sealed(event.signature));
    const isSame = id === event.id && name === event.name && signature === event.signature;
    this.out.push(isSame ? event : present({ ...event, id, name, signature }));
  }

  private async addItem(event: Extract<ChatEvent, { type: 'native-item' }>): Promise<void> {
    await this.leaveOthers(event.choice, event.type);
    this.out.push({ ...event, item: await guardValue(this.guard, this.texts, event.item) });
  }

  private async addExtra(given: Extract<ChatEvent, { type: 'extra' }>): Promise<void> {
    if (given.name === LOGPROBS && this.guard.guardrails.acts) return;
    const event = { ...given, name: await guardName(this.guard, this.texts, given.name) };
    const pieces = Object.hasOwn(PIECES, event.name) ? PIECES[event.name] : undefined;
    const { value } = event;
    if (pieces === undefined || !isObject(value) || typeof value[pieces.member] !== 'string') {
      const choice = this.open(event.choice ?? 0);
      const named = await withJudgedNames(this.guard, this.texts, value);
      const fields = piecesOfExtra({ ...event, value: named });
      const eventOf = (said: JsonValue): ChatEvent => ({ ...event, value: said });
      const passed = withPieces(named, `extra ${event.name}`, await this.passPieces(choice, fields, eventOf));
      this.out.push(eventOf(await guardValue(this.guard, this.texts, passed)));
      return;
    }
    const { member, part, kind } = pieces;
    const { [member]: text, ...rest } = value;
    const eventOf = (piece: string): ChatEvent => ({ ...event, value: { [member]: piece } });
    const { channels } = this.open(event.choice ?? 0);
    const channel = channels.get(event.name) ?? new Channel(this.guard, part, kind, eventOf);
    channels.set(event.name, channel);
    const judged = await guardValue(this.guard, this.texts, rest);
    this.out.push({ ...event, value: { ...judged, [member]: await channel.push(String(text)) } });
  }

  private open(index: number): OpenChoice {
    let choice = this.choices.get(index);
    if (choice === undefined) {
      choice = { channels: new Map(), details: [], customTools: new Set() };
      this.choices.set(index, choice);
    }
    return choice;
  }

  /** Releases texts of other kinds first; tool arguments wait for their own end. */
  private leaveOthers(index: number, name: string): Added {
    const choice = this.open(index);
    for (const [other, channel] of choice.channels) {
      if (other !== name && !WAITING.test(other) && channel.holds) this.flush(channel);
    }
    const flush = () => (name === 'reasoning' ? undefined : this.flushDetails(choice));
    return choice.details.length > 0 ? this.giveDetails(index, choice).then(flush) : flush();
  }

  private flushDetails(choice: OpenChoice): undefined {
    for (const [name, channel] of choice.channels) {
      if (name.startsWith('detail ') && channel.holds) this.asThought(choice, () => this.flush(channel));
    }
  }

  /** Details repeat the reasoning text, if both are present. */
  private asThought<T>(choice: OpenChoice, judge: () => T): T {
    return choice.channels.has('reasoning') ? this.guard.judgeAgain('thoughts', judge) : judge();
  }

  /** Result of each piece, by its key. */
  private async passPieces(
    choice: OpenChoice,
    fields: readonly PieceField[],
    eventOf: (value: JsonValue) => ChatEvent,
  ): Promise<Map<string, string>> {
    const passed = new Map<string, string>();
    for (const { key, text, withText } of fields) {
      const channel =
        choice.channels.get(key) ?? new Channel(this.guard, 'assistant', 'plain', (said) => eventOf(withText(said)));
      choice.channels.set(key, channel);
      const said = await channel.push(text);
      passed.set(key, this.texts.note(said, said));
    }
    return passed;
  }

  private flush(channel: Channel): void {
    const text = channel.flush();
    if (text !== '') this.out.push(channel.eventOf(text));
  }

  private async close(choice: OpenChoice, index: number): Promise<void> {
    for (const [name, channel] of choice.channels) {
      if (name.startsWith('detail ')) continue;
      const text = await channel.flushInSlices();
      if (text !== '') this.out.push(channel.eventOf(text));
    }
    await this.giveDetails(index, choice);
    this.flushDetails(choice);
    for (const [name, channel] of choice.channels) {
      const note = () => channel.noteLate();
      await (name.startsWith('detail ') ? this.asThought(choice, note) : note());
    }
  }

  private async giveDetails(index: number, choice: OpenChoice): Promise<void> {
    if (choice.channels.get('reasoning')?.holds === true) return;
    const { details } = choice;
    choice.details = [];
    for (const detail of details) await this.asThought(choice, () => this.giveDetail(index, choice, detail));
  }

  private async giveDetail(index: number, choice: OpenChoice, given: JsonObject): Promise<void> {
    const detail = (await withJudgedNames(this.guard, this.texts, given)) as JsonObject;
    const { fields, isEnd } = piecesOfDetail(detail);
    if (isEnd && fields.length === 0) this.flushDetails(choice);
    const eventOf = (said: JsonValue): ChatEvent => ({
      ...{ type: 'reasoning-detail', choice: index, detail: said as JsonObject },
    });
    const passed = await this.passPieces(choice, fields, eventOf);
    if (isEnd) {
      for (const { key } of fields) passed.set(key, `${passed.get(key)}${choice.channels.get(key)?.flush()}`);
    }
    const told = withPieces(detail, `detail ${String(detail.index ?? '')}`, passed) as JsonObject;
    this.out.push(eventOf(await guardValue(this.guard, this.texts, told)));
  }
}
