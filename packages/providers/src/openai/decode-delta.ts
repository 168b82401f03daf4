import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { countOutput } from '@llm0/core/pricing/count-output';
import { asNumber, asObject, asString } from '../translation/read-json';

interface ToolSlot {
  readonly toolIndex: number;
  readonly id: string;
  name: string;
}

/** State of a choice while its pieces arrive. */
export interface ChoiceState {
  readonly choice: number;
  /** Pieces of a stream carry indexes that clients rely on; whole messages do not. */
  readonly streaming: boolean;
  /** Base for ids of calls without one. */
  readonly idBase: string;
  roleSent: boolean;
  finished: boolean;
  readonly tools: ToolSlot[];
  /** The vendor's index → the call it means now. */
  readonly byIndex: Map<number, ToolSlot>;
}

export function createChoiceState(choice: number, streaming: boolean, idBase: string): ChoiceState {
  return { choice, streaming, idBase, roleSent: false, finished: false, tools: [], byIndex: new Map() };
}

/**
 * A delta (or a whole message) → events, in order. Brings `delta` itself into the one shape clients get
 * (`reasoning_content`, text content, indexed calls); true when that changed anything.
 */
export function decodeDelta(delta: JsonObject, state: ChoiceState, events: ChatEvent[]): boolean {
  let changed = false;
  const { choice } = state;
  for (const name in delta) {
    const value = delta[name];
    if (value === undefined || value === null || value === '') continue;
    const decode = FIELD_DECODERS.get(name);
    if (decode === undefined) events.push({ type: 'extra', scope: 'message', choice, name, value });
    else if (decode(value, delta, state, events)) changed = true;
  }
  return changed;
}

type FieldDecoder = (value: JsonValue, delta: JsonObject, state: ChoiceState, events: ChatEvent[]) => boolean;

const textDecoder =
  (type: 'reasoning' | 'refusal'): FieldDecoder =>
  (value, _delta, { choice }, events) => {
    if (typeof value === 'string') events.push({ type, choice, text: value });
    return false;
  };

const FIELD_DECODERS: ReadonlyMap<string, FieldDecoder> = new Map<string, FieldDecoder>([
  ['role', () => false],
  ['content', decodeContent],
  ['reasoning_content', textDecoder('reasoning')],
  ['reasoning', decodeReasoningAlias],
  ['reasoning_details', decodeReasoningDetails],
  ['refusal', textDecoder('refusal')],
  ['tool_calls', decodeToolCalls],
]);

function decodeContent(value: JsonValue, delta: JsonObject, state: ChoiceState, events: ChatEvent[]): boolean {
  const { choice } = state;
  if (typeof value === 'string') {
    events.push({ type: 'text', choice, text: value });
    return false;
  }
  if (!Array.isArray(value)) return false;
  // Servers that stream content as parts: `{type: text}` and `{type: thinking, thinking: [{type: text}]}`.
  const reasoning = value.map((part) => partsText(asObject(part)?.thinking)).join('');
  const text = partsText(value);
  if (reasoning !== '') {
    delta.reasoning_content = reasoning;
    events.push({ type: 'reasoning', choice, text: reasoning });
  }
  if (text !== '') events.push({ type: 'text', choice, text });
  const others = value.filter((part) => partsText([part]) === '' && asObject(part)?.thinking === undefined);
  if (others.length > 0) events.push({ type: 'unread', bytes: countOutput(others) });
  delta.content = text;
  return true;
}

function partsText(parts: JsonValue | undefined): string {
  if (typeof parts === 'string') return parts;
  if (!Array.isArray(parts)) return '';
  return parts.map((part) => (typeof part === 'string' ? part : (asString(asObject(part)?.text) ?? ''))).join('');
}

function decodeReasoningAlias(value: JsonValue, delta: JsonObject, state: ChoiceState, events: ChatEvent[]): boolean {
  if (typeof value !== 'string') return false;
  const already = delta.reasoning_content;
  if (typeof already !== 'string' || already === '') {
    delta.reasoning_content = value;
    events.push({ type: 'reasoning', choice: state.choice, text: value });
  }
  delete delta.reasoning;
  return true;
}

function decodeReasoningDetails(
  value: JsonValue,
  _delta: JsonObject,
  state: ChoiceState,
  events: ChatEvent[],
): boolean {
  for (const item of Array.isArray(value) ? value : []) {
    const detail = asObject(item);
    if (detail !== undefined) events.push({ type: 'reasoning-detail', choice: state.choice, detail });
  }
  return false;
}

function decodeToolCalls(value: JsonValue, _delta: JsonObject, state: ChoiceState, events: ChatEvent[]): boolean {
  let changed = false;
  for (const item of Array.isArray(value) ? value : []) {
    const entry = asObject(item);
    if (entry !== undefined && decodeToolCall(entry, state, events)) changed = true;
  }
  return changed;
}

function decodeToolCall(entry: JsonObject, state: ChoiceState, events: ChatEvent[]): boolean {
  const custom = asObject(entry.custom);
  const body = custom ?? asObject(entry.function) ?? {};
  const name = asString(body.name) ?? '';
  const known = findSlot(entry, name, state);
  const slot = known ?? openSlot(entry, state);
  const { choice } = state;
  const { toolIndex } = slot;
  let changed = false;
  if (known === undefined || (known.name === '' && name !== '')) {
    slot.name = name;
    const signature = asString(entry.signature);
    events.push({
      type: 'tool-call',
      choice,
      toolIndex,
      id: slot.id,
      name,
      ...(custom === undefined ? {} : { custom: true }),
      ...(signature === undefined ? {} : { signature }),
    });
    changed = completeHead(entry, slot, state);
  } else {
    changed = removeHead(entry, body);
  }
  if (state.streaming && entry.index !== toolIndex) {
    entry.index = toolIndex;
    changed = true;
  }
  const argumentsField = custom === undefined ? 'arguments' : 'input';
  const given = body[argumentsField];
  const text = typeof given === 'object' && given !== null ? JSON.stringify(given) : asString(given);
  if (text !== undefined && text !== '') {
    events.push({ type: 'tool-arguments', choice, toolIndex, text });
    if (text !== given) {
      body[argumentsField] = text;
      changed = true;
    }
  }
  return changed;
}

/** The call an entry continues. Servers leave out indexes, reuse them for every call, or repeat ids on each piece. */
function findSlot(entry: JsonObject, name: string, state: ChoiceState): ToolSlot | undefined {
  if (!state.streaming) return undefined;
  const id = asString(entry.id) || undefined;
  const index = asNumber(entry.index);
  if (index !== undefined) {
    const slot = state.byIndex.get(index);
    const another = slot !== undefined && id !== undefined && id !== slot.id && name !== '' && slot.name !== '';
    return another ? undefined : slot;
  }
  if (id !== undefined) return state.tools.find((slot) => slot.id === id);
  return name === '' ? state.tools.at(-1) : undefined;
}

function openSlot(entry: JsonObject, state: ChoiceState): ToolSlot {
  const toolIndex = state.tools.length;
  const id = asString(entry.id) || `call_${state.idBase}_${state.choice}_${toolIndex}`;
  const slot: ToolSlot = { toolIndex, id, name: '' };
  state.tools.push(slot);
  const index = asNumber(entry.index);
  if (index !== undefined) state.byIndex.set(index, slot);
  return slot;
}

/** The first piece of a call names id and type. */
function completeHead(entry: JsonObject, slot: ToolSlot, state: ChoiceState): boolean {
  if (entry.id === slot.id && (typeof entry.type === 'string' || !state.streaming)) return false;
  entry.id = slot.id;
  entry.type ??= entry.custom === undefined ? 'function' : 'custom';
  return true;
}

/** Later pieces do not, since some clients would append the name again. */
function removeHead(entry: JsonObject, body: JsonObject): boolean {
  const repeats = entry.id !== undefined || body.name !== undefined;
  if (repeats) {
    delete entry.id;
    delete body.name;
  }
  return repeats;
}
