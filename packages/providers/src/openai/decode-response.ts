import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import { isObject, type JsonObject, type JsonValue } from '@llm0/core/chat/json';
import { WholeBatch } from '@llm0/core/chat/replay';
import type { ToolCall } from '@llm0/core/chat/request';
import type { ChatChoice } from '@llm0/core/chat/response';
import { type AnswerBody, asIndex, asObject, asString, parseAnswer } from '../translation/read-json';
import { upstreamFailure } from '../transport/upstream-failure';
import { addChoiceExtras, idBaseOf, startEvent } from './decode-chunk';
import { createChoiceState, decodeDelta } from './decode-delta';
import { decodeErrorObject } from './decode-error';
import { decodeUsage } from './decode-usage';
import { decodeFinishReason } from './finish-reasons';
import { ANSWER_FIELDS, CHOICE_FIELDS, PADDING_FIELD } from './wire';

/** A whole plain answer, and the body itself. Throws `malformed` for anything that is not one. */
export function decodeResponse(provider: string, bytes: AnswerBody): EventBatch {
  return decodeBody(provider, parseAnswer(provider, bytes));
}

export function decodeBody(provider: string, body: JsonObject): EventBatch {
  const error = body.error === undefined && body.object !== 'error' ? undefined : decodeErrorObject(provider, body);
  if (error !== undefined) throw error;
  return readUsualAnswer(body) ?? readAnyAnswer(provider, body);
}

/** An answer of any server that speaks the format. Brings the body into shape. */
export function readAnyAnswer(provider: string, body: JsonObject): EventBatch {
  const choices = Array.isArray(body.choices) ? body.choices : [];
  const idBase = idBaseOf(body);
  const events: ChatEvent[] = [startEvent(body)];
  for (const name in body) {
    const value = body[name];
    if (ANSWER_FIELDS.has(name) || name === PADDING_FIELD || value === undefined || value === null) continue;
    events.push({ type: 'extra', scope: 'answer', name, value });
  }
  let decoded = 0;
  for (const [position, item] of choices.entries()) if (decodeChoice(item, position, idBase, events)) decoded += 1;
  if (decoded === 0) throw upstreamFailure('malformed', provider, 'answered without any message.');
  const usage = decodeUsage(body.usage, body.service_tier, body.tool_usage);
  if (usage !== undefined) events.push({ type: 'usage', usage });
  return { events, wire: { kind: 'body', format: 'openai-chat', body } };
}

function decodeChoice(item: JsonValue, position: number, idBase: string, events: ChatEvent[]): boolean {
  const choice = asObject(item);
  const message = asObject(choice?.message);
  if (choice === undefined || message === undefined) return false;
  const index = asIndex(choice.index) ?? position;
  decodeDelta(message, createChoiceState(index, false, idBase), events);
  addChoiceExtras(choice, index, events);
  const given = asString(choice.finish_reason) || undefined;
  const nativeReason = asString(choice.native_finish_reason) || given;
  events.push({
    type: 'finish',
    choice: index,
    reason: given === undefined ? 'stop' : decodeFinishReason(given),
    ...(nativeReason === undefined ? {} : { nativeReason }),
  });
  return true;
}

type Fields = Record<string, JsonValue>;

/** Texts, and spellings of other servers. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...['content', 'refusal', 'reasoning_content'],
  ...['reasoning', 'reasoning_details'],
]);

/**
 * A whole answer of texts and function calls in the format's own spelling, without an event for each part; undefined for
 * any other.
 */
export function readUsualAnswer(body: JsonObject): EventBatch | undefined {
  if (!Array.isArray(body.choices) || body.choices.length === 0) return undefined;
  const choices: ChatChoice[] = [];
  for (const item of body.choices) {
    const choice = readChoice(item, choices.length);
    if (choice === undefined) return undefined;
    choices.push(choice);
  }
  let extra: Fields | undefined;
  for (const name in body) {
    const value = body[name] ?? null;
    if (value !== null && !ANSWER_FIELDS.has(name) && name !== PADDING_FIELD) extra = withField(extra, name, value);
  }
  const { id, model, created } = body;
  const whole = {
    choices,
    id: typeof id === 'string' && id !== '' ? id : undefined,
    model: typeof model === 'string' && model !== '' ? model : undefined,
    createdSeconds: typeof created === 'number' && created !== 0 ? created : undefined,
    usage: decodeUsage(body.usage, body.service_tier, body.tool_usage),
    extra,
  };
  return new WholeBatch(whole, { kind: 'body', format: 'openai-chat', body });
}

function readChoice(choice: JsonValue, index: number): ChatChoice | undefined {
  if (!isObject(choice) || (choice.index ?? index) !== index) return undefined;
  const { finish_reason: finish, native_finish_reason: native } = choice;
  const given = typeof finish === 'string' && finish !== '' ? finish : undefined;
  const read: Open<ChatChoice> = {
    index,
    text: null,
    refusal: undefined,
    reasoning: undefined,
    toolCalls: undefined,
    messageExtra: undefined,
    finishReason: given === undefined ? 'stop' : decodeFinishReason(given),
    nativeFinishReason: typeof native === 'string' && native !== '' ? native : given,
    choiceExtra: undefined,
  };
  if (!readMessage(choice.message, read)) return undefined;
  let choiceExtra: Fields | undefined;
  for (const name in choice) {
    const value = choice[name] ?? null;
    if (value !== null && !CHOICE_FIELDS.has(name)) choiceExtra = withField(choiceExtra, name, value);
  }
  read.choiceExtra = choiceExtra;
  return read;
}

type Open<T> = { -readonly [K in keyof T]: T[K] };

/** Reads a message into its choice; false for an unusual one. */
function readMessage(message: JsonValue | undefined, choice: Open<ChatChoice>): boolean {
  if (!isObject(message)) return false;
  let messageExtra: Fields | undefined;
  for (const name in message) {
    const value = message[name] ?? null;
    if (value === null || value === '' || name === 'role') continue;
    if (name === 'tool_calls') {
      choice.toolCalls = readCalls(value);
      if (choice.toolCalls === undefined) return false;
    } else if (!KNOWN_FIELDS.has(name)) messageExtra = withField(messageExtra, name, value);
    else if (typeof value !== 'string') return false;
    else if (name === 'content') choice.text = value;
    else if (name === 'refusal') choice.refusal = value;
    else if (name === 'reasoning_content') choice.reasoning = value;
    else return false;
  }
  choice.messageExtra = messageExtra;
  return true;
}

function readCalls(value: JsonValue): readonly ToolCall[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const calls: ToolCall[] = [];
  for (const item of value) {
    if (!isObject(item) || !isObject(item.function) || 'custom' in item || 'signature' in item) return undefined;
    const { id } = item;
    const { name, arguments: text } = item.function;
    if (typeof id !== 'string' || id === '' || typeof name !== 'string' || typeof text !== 'string') return undefined;
    calls.push({ id, name, arguments: text });
  }
  return calls;
}

/** A field of any name, also that of the prototype. */
function withField(fields: Fields | undefined, name: string, value: JsonValue): Fields {
  const all = fields ?? {};
  if (name !== '__proto__') all[name] = value;
  else Object.defineProperty(all, name, { value, enumerable: true, configurable: true, writable: true });
  return all;
}
