import type { ChatEvent } from '@llm0/core/chat/event';
import { type JsonObject, parseJson } from '@llm0/core/chat/json';
import { REASONING_FORMAT } from '@llm0/providers/anthropic/wire';
import { sealReasoning } from '../seal-reasoning';

/** Takes the blocks of one answer: one after the other, each closed before the next begins. */
export interface BlockSink {
  start(index: number, block: JsonObject): void;
  delta(index: number, delta: JsonObject): void;
  stop(index: number): void;
}

interface OpenBlock {
  readonly kind: 'text' | 'thinking' | 'tool';
  readonly toolIndex: number;
  /** JSON text of a call's arguments so far. */
  json: string;
  /** Text or thought so far. */
  said: string;
  signed: boolean;
}

/** The format has one choice. */
const CHOICE = 0;

/**
 * Events of any vendor's answer → blocks in order. Interleaved calls are serialized: pieces of a later one wait until
 * the open one ends.
 */
export class BlockWriter {
  private index = 0;
  private open: OpenBlock | undefined;
  private waiting: ChatEvent[] = [];
  private readonly closedTools = new Set<number>();
  /** Characters of reasoning: received as text, received as details (which repeat the text), and written. */
  private readonly thought = { told: 0, detailed: 0, written: 0 };
  /** Calls written so far. */
  calls = 0;

  /** `showsThinking`: the caller requested reasoning; otherwise it may not expect it. */
  constructor(
    private readonly sink: BlockSink,
    private readonly showsThinking: boolean,
  ) {}

  add(event: ChatEvent): void {
    if (!('choice' in event) || event.choice !== CHOICE) return;
    if (this.mustWait(event)) {
      this.waiting.push(event);
      return;
    }
    this.write(event);
    if (this.waiting.length > 0 && this.isOpenCallWhole()) this.writeWaiting();
  }

  /** The answer is over: everything that waits, and the end of the last block. */
  finish(): void {
    while (this.waiting.length > 0) {
      this.close();
      this.writeWaiting();
    }
    this.close();
  }

  /** Completes the open block from the message's own blocks. Returns the index of the first unwritten one. */
  goOn(blocks: readonly JsonObject[]): number {
    const { open, index } = this;
    const block = blocks[index];
    const deltas = open !== undefined && block !== undefined ? restOf(block, open.said) : [];
    for (const delta of deltas) {
      if (open !== undefined && delta.type === 'signature_delta') open.signed = true;
      this.sink.delta(index, delta);
    }
    this.finish();
    return this.index;
  }

  private note(said: string): void {
    if (this.open !== undefined) this.open.said += said;
  }

  private write(event: ChatEvent): void {
    switch (event.type) {
      case 'text':
      case 'refusal':
        this.writeText(event.text);
        return;
      case 'reasoning':
        this.writeThought(event.text, 'told', this.showsThinking);
        return;
      case 'reasoning-detail':
        this.writeDetail(event.detail);
        return;
      case 'tool-call':
        this.openCall(event);
        return;
      case 'tool-arguments':
        this.writeArguments(event.toolIndex, event.text);
        return;
      default:
    }
  }

  /** While a call is being written, only its own pieces may go out. */
  private mustWait(event: ChatEvent): boolean {
    const { open } = this;
    if (open?.kind !== 'tool' || !WRITTEN.has(event.type)) return false;
    if (
      event.type === 'tool-arguments' &&
      (event.toolIndex === open.toolIndex || this.closedTools.has(event.toolIndex))
    ) {
      return false;
    }
    return this.waiting.length > 0 || !this.isOpenCallWhole();
  }

  private isOpenCallWhole(): boolean {
    const { open } = this;
    return open?.kind !== 'tool' || isWholeJson(open.json);
  }

  /** In order, as far as it goes: an event may have to wait again for the call that one before it opened. */
  private writeWaiting(): void {
    const events = this.waiting;
    this.waiting = [];
    for (const event of events) this.add(event);
  }

  private writeText(text: string): void {
    if (text === '') return;
    this.ensureOpen('text', { type: 'text', text: '' });
    this.note(text);
    this.sink.delta(this.index, { type: 'text_delta', text });
  }

  /** Some vendors send reasoning twice, as text and as details: each character goes out once. */
  private writeThought(text: string, as: 'told' | 'detailed', isShown: boolean): void {
    const { thought } = this;
    thought[as] += text.length;
    const fresh = Math.min(text.length, thought[as] - thought.written);
    if (fresh <= 0 || !isShown) return;
    thought.written += fresh;
    this.ensureOpen('thinking', { type: 'thinking', thinking: '', signature: '' });
    const thinking = text.slice(text.length - fresh);
    this.note(thinking);
    this.sink.delta(this.index, { type: 'thinking_delta', thinking });
  }

  private writeDetail(detail: JsonObject): void {
    const { data, signature, format } = detail;
    const isOwn = format === REASONING_FORMAT;
    // Models of this format's own vendor show their thoughts to every caller.
    const isShown = isOwn || this.showsThinking;
    if (!isShown) return;
    if (typeof data === 'string') {
      this.close();
      this.sink.start(this.index, { type: 'redacted_thinking', data: isOwn ? data : sealReasoning(detail) });
      this.sink.stop(this.index);
      this.index += 1;
      return;
    }
    const text = detail.text ?? detail.summary;
    if (typeof text === 'string') this.writeThought(text, 'detailed', isShown);
    if (typeof signature !== 'string' || signature === '') return;
    this.ensureOpen('thinking', { type: 'thinking', thinking: '', signature: '' });
    this.sign(isOwn ? signature : sealReasoning({ signature, ...(typeof format === 'string' ? { format } : {}) }));
    this.close();
  }

  private sign(signature: string): void {
    if (this.open !== undefined) this.open.signed = true;
    this.sink.delta(this.index, { type: 'signature_delta', signature });
  }

  private openCall({ toolIndex, id, name, signature }: Extract<ChatEvent, { type: 'tool-call' }>): void {
    this.close();
    this.calls += 1;
    const signed: JsonObject = signature === undefined ? {} : { signature };
    this.begin('tool', { type: 'tool_use', id, name, input: {}, ...signed }, toolIndex);
  }

  private writeArguments(toolIndex: number, text: string): void {
    const { open } = this;
    if (open?.kind !== 'tool' || open.toolIndex !== toolIndex || text === '') return;
    open.json += text;
    this.sink.delta(this.index, { type: 'input_json_delta', partial_json: text });
  }

  private ensureOpen(kind: 'text' | 'thinking', block: JsonObject): void {
    if (this.open?.kind === kind) return;
    this.close();
    this.begin(kind, block);
  }

  private begin(kind: OpenBlock['kind'], block: JsonObject, toolIndex = -1): void {
    this.open = { kind, toolIndex, json: '', said: '', signed: false };
    this.sink.start(this.index, block);
  }

  private close(): void {
    const { open } = this;
    if (open === undefined) return;
    // Clients keep only signed reasoning; this seal marks unsigned one.
    if (open.kind === 'thinking' && !open.signed) this.sign(sealReasoning({}));
    if (open.kind === 'tool') this.closedTools.add(open.toolIndex);
    this.sink.stop(this.index);
    this.open = undefined;
    this.index += 1;
  }
}

/** Events that become blocks. */
const WRITTEN: ReadonlySet<ChatEvent['type']> = new Set<ChatEvent['type']>([
  'text',
  'refusal',
  'reasoning',
  'reasoning-detail',
  'tool-call',
  'tool-arguments',
]);

function isWholeJson(text: string): boolean {
  return text.trimEnd().endsWith('}') && parseJson(text) !== undefined;
}

/** Remainder of a text or thought after `said`; empty for other kinds or another beginning. */
export function restOf(block: JsonObject, said: string): readonly JsonObject[] {
  const { type, text = '', thinking = '', signature = '' } = block;
  const whole = type === 'text' ? text : type === 'thinking' ? thinking : undefined;
  if (typeof whole !== 'string' || !whole.startsWith(said)) return [];
  const rest = whole.slice(said.length);
  if (type === 'thinking') {
    return [
      { type: 'thinking_delta', thinking: rest },
      { type: 'signature_delta', signature },
    ];
  }
  const citations = Array.isArray(block.citations) ? block.citations : [];
  const marks = citations.map((citation) => ({ type: 'citations_delta', citation }));
  return rest === '' && said !== '' ? marks : [{ type: 'text_delta', text: rest }, ...marks];
}
