import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { asIndex, asNumber, asObject, asString } from '../translation/read-json';
import { type ChoiceState, createChoiceState, decodeDelta } from './decode-delta';
import { decodeUsage } from './decode-usage';
import { decodeFinishReason, isStandardFinishReason } from './finish-reasons';
import { ChunkTemplate } from './usual/chunk-template';
import { ANSWER_FIELDS, CHOICE_FIELDS, PADDING_FIELD } from './wire';

/** Treatment of a chunk for a client of the same format. */
export type ChunkFate =
  /** Unchanged: forwards its bytes. */
  | 'forward'
  /** `chunk` was brought into shape and must be written again. */
  | 'rewrite'
  /** Nothing for a client (usage, an empty repetition of the role). */
  | 'drop';

const CHUNK_OBJECT = 'chat.completion.chunk';

/** Decodes the chunks of one streamed answer. Holds the state that goes from chunk to chunk. */
export class ChunkDecoder {
  private readonly choices = new Map<number, ChoiceState>();
  /** Last value of each unknown top-level field: most repeat on every chunk. */
  private readonly lastExtras = new Map<string, JsonValue>();
  /** Fields of chunks without choices, given to the next chunk that goes out. */
  private held: JsonObject | undefined;
  private started = false;
  private idBase = '';
  private serviceTier: JsonValue | undefined;
  /** A chunk of text, which later ones are like. Holds until one tells something else. */
  template: ChunkTemplate | undefined;

  /** True when at least one choice was seen and each was finished. */
  get complete(): boolean {
    if (this.choices.size === 0) return false;
    for (const state of this.choices.values()) if (!state.finished) return false;
    return true;
  }

  /**
   * Appends the text of a chunk that tells nothing else, as most do, and leaves it as it is. False for any other chunk,
   * of which nothing was read. `data`: its JSON.
   */
  decodeText(chunk: JsonObject, events: ChatEvent[], data: string): boolean {
    const { choices } = chunk;
    if (this.held !== undefined || chunk.object !== CHUNK_OBJECT || !Array.isArray(choices)) return false;
    const [item] = choices;
    if (choices.length !== 1 || typeof item !== 'object' || item === null || Array.isArray(item)) return false;
    const { delta, index, finish_reason: finish } = item;
    const state = typeof index === 'number' ? this.choices.get(index) : undefined;
    if (state?.roleSent !== true || finish !== null) return false;
    if (typeof delta !== 'object' || delta === null || Array.isArray(delta)) return false;
    const { content: text } = delta;
    if (typeof text !== 'string' || text === '') return false;
    for (const name in delta) if (name !== 'content') return false;
    for (const name in item) if (item[name] !== null && !CHOICE_FIELDS.has(name)) return false;
    for (const name in chunk) {
      const value = chunk[name] ?? null;
      if (value === null || name === PADDING_FIELD || this.lastExtras.get(name) === value) continue;
      if (name === 'usage' || !ANSWER_FIELDS.has(name)) return false;
    }
    const said = { type: 'text', choice: state.choice, text } as const;
    events.push(said);
    this.template = ChunkTemplate.of(data, chunk, said) ?? this.template;
    return true;
  }

  /** Appends the chunk's events and returns its treatment; may modify `chunk`. */
  decode(chunk: JsonObject, events: ChatEvent[]): ChunkFate {
    this.template = undefined;
    const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
    if (!this.started) {
      if (choices.length === 0 && (chunk.usage === undefined || chunk.usage === null)) {
        this.hold(chunk);
        return 'drop';
      }
      this.start(chunk, events);
    }
    const merged = choices.length > 0 && this.giveHeld(chunk);
    const extrasFrom = events.length;
    this.takeExtras(chunk, events);
    const hasExtras = events.length > extrasFrom;
    let changed = this.decodeChoices(chunk, choices, events) || merged;
    const visible = Array.isArray(chunk.choices) && chunk.choices.length > 0;
    if (chunk.usage !== undefined && chunk.usage !== null) {
      const usage = decodeUsage(chunk.usage, this.serviceTier, chunk.tool_usage);
      if (usage !== undefined) events.push({ type: 'usage', usage });
      delete chunk.usage;
      changed = true;
    } else if (!visible && hasExtras) {
      this.hold(chunk);
    }
    if (!visible) return 'drop';
    if (chunk.object !== CHUNK_OBJECT) {
      chunk.object = CHUNK_OBJECT;
      changed = true;
    }
    return changed ? 'rewrite' : 'forward';
  }

  /** After the vendor's end: a finish for choices without one, as chunk choices. */
  finishOpenChoices(events: ChatEvent[]): JsonObject[] {
    const finishes: JsonObject[] = [];
    for (const state of this.choices.values()) {
      if (state.finished) continue;
      state.finished = true;
      const reason = state.tools.length > 0 ? 'tool_calls' : 'stop';
      events.push({ type: 'finish', choice: state.choice, reason });
      finishes.push({ index: state.choice, delta: {}, finish_reason: reason });
    }
    return finishes;
  }

  private start(chunk: JsonObject, events: ChatEvent[]): void {
    this.started = true;
    this.idBase = idBaseOf(chunk);
    events.push(startEvent(chunk));
  }

  private takeExtras(chunk: JsonObject, events: ChatEvent[]): void {
    if (chunk.service_tier !== undefined && chunk.service_tier !== null) this.serviceTier = chunk.service_tier;
    for (const name in chunk) {
      if (ANSWER_FIELDS.has(name) || name === PADDING_FIELD) continue;
      const value = chunk[name];
      if (value === undefined || value === null || this.lastExtras.get(name) === value) continue;
      this.lastExtras.set(name, value);
      events.push({ type: 'extra', scope: 'answer', name, value });
    }
  }

  private hold(chunk: JsonObject): void {
    const { choices: _choices, usage: _usage, ...fields } = chunk;
    for (const name of Object.keys(fields)) if (ANSWER_FIELDS.has(name)) delete fields[name];
    this.held = { ...this.held, ...fields };
  }

  private giveHeld(chunk: JsonObject): boolean {
    if (this.held === undefined) return false;
    Object.assign(chunk, { ...this.held, ...chunk });
    this.held = undefined;
    return true;
  }

  /** True when something in the chunk had to change. Choices with nothing new in them are taken out. */
  private decodeChoices(chunk: JsonObject, choices: readonly JsonValue[], events: ChatEvent[]): boolean {
    let changed = false;
    let empty = 0;
    for (const item of choices) {
      const choice = asObject(item);
      const fate = choice === undefined ? 'drop' : this.decodeChoice(choice, events);
      if (fate === 'drop') empty += 1;
      if (fate !== 'forward') changed = true;
      if (fate === 'drop' && choice !== undefined) choice.index = -1;
    }
    if (empty > 0) chunk.choices = choices.filter((item) => (asNumber(asObject(item)?.index) ?? -1) >= 0);
    return changed;
  }

  private decodeChoice(choice: JsonObject, events: ChatEvent[]): ChunkFate {
    let changed = false;
    let index = asIndex(choice.index);
    if (index === undefined) {
      index = 0;
      choice.index = 0;
      changed = true;
    }
    const state = this.stateOf(index);
    let delta = asObject(choice.delta);
    if (delta === undefined) {
      delta = asObject(choice.message) ?? {};
      delete choice.message;
      choice.delta = delta;
      changed = true;
    }
    const first = !state.roleSent;
    if (normalizeRole(choice, delta, state)) changed = true;
    delta = asObject(choice.delta) ?? delta;
    const before = events.length;
    if (decodeDelta(delta, state, events)) changed = true;
    addChoiceExtras(choice, index, events);
    if (decodeFinish(choice, state, events)) changed = true;
    if (!first && events.length === before) return 'drop';
    return changed ? 'rewrite' : 'forward';
  }

  private stateOf(index: number): ChoiceState {
    let state = this.choices.get(index);
    if (state === undefined) {
      state = createChoiceState(index, true, this.idBase);
      this.choices.set(index, state);
    }
    return state;
  }
}

/** The start event, from the first chunk with its data. */
export function startEvent({ id, model, created }: JsonObject): ChatEvent {
  const createdSeconds = asNumber(created) || undefined;
  return { type: 'start', id: asString(id) || undefined, model: asString(model) || undefined, createdSeconds };
}

/** Base for ids of calls without one. */
export function idBaseOf({ id }: JsonObject): string {
  return (asString(id) || 'none').replace(/[^\w]/g, '').slice(-24);
}

/** Fields of a choice that our own types do not hold. */
export function addChoiceExtras(from: JsonObject, choice: number, events: ChatEvent[]): void {
  for (const name in from) {
    const value = from[name];
    if (CHOICE_FIELDS.has(name) || value === undefined || value === null) continue;
    events.push({ type: 'extra', scope: 'choice', choice, name, value });
  }
}

/** The role goes out exactly once per choice, on its first chunk. True when the delta changed. */
function normalizeRole(choice: JsonObject, delta: JsonObject, state: ChoiceState): boolean {
  if (state.roleSent) {
    if (delta.role === undefined) return false;
    delete delta.role;
    return true;
  }
  state.roleSent = true;
  if (delta.role === 'assistant') return false;
  choice.delta = { ...delta, role: 'assistant' };
  return true;
}

/** One finish per choice, a standard value plus the vendor's own. True if the choice changed. */
function decodeFinish(choice: JsonObject, state: ChoiceState, events: ChatEvent[]): boolean {
  const given = choice.finish_reason;
  if (given === undefined) {
    choice.finish_reason = null;
    return true;
  }
  if (typeof given !== 'string' || given === '') return false;
  if (state.finished) {
    choice.finish_reason = null;
    return true;
  }
  state.finished = true;
  const reason = decodeFinishReason(given);
  const nativeReason = asString(choice.native_finish_reason) ?? given;
  events.push({ type: 'finish', choice: state.choice, reason, nativeReason });
  choice.finish_reason = isStandardFinishReason(given) ? given : reason;
  choice.native_finish_reason = nativeReason;
  return true;
}
