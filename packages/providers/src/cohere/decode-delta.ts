import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { countOutput } from '@llm0/core/pricing/count-output';
import { asObject, asObjects, asString } from '../translation/read-json';
import type { ToolNames } from '../translation/vendor-names';

/** The vendor gives one choice. */
export const CHOICE = 0;

/** A call whose arguments arrive. */
export interface OpenCall {
  readonly toolIndex: number;
  hasArguments: boolean;
}

/** State across the pieces of one answer. */
export interface AnswerState {
  readonly names: ToolNames;
  toolCalls: number;
  readonly citations: JsonObject[];
}

export function createAnswerState(names: ToolNames): AnswerState {
  return { names, toolCalls: 0, citations: [] };
}

/** One object, or a list: the vendor's events have both. */
export function listOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? asObjects(value) : asObjects([value ?? null]);
}

/** A piece of content, or all of it. Kinds that are not known only count. */
export function addContent(content: JsonObject, events: ChatEvent[]): void {
  const text = asString(content.text);
  const thinking = asString(content.thinking);
  if (text !== undefined) addText('text', text, events);
  if (thinking !== undefined) addText('reasoning', thinking, events);
  if (text === undefined && thinking === undefined) events.push({ type: 'unread', bytes: countOutput(content) });
}

export function addText(type: 'text' | 'reasoning', text: string | undefined, events: ChatEvent[]): void {
  if (text !== undefined && text !== '') events.push({ type, choice: CHOICE, text });
}

/** Opens a call, with its arguments where they are whole. */
export function beginCall(call: JsonObject, state: AnswerState, events: ChatEvent[]): OpenCall {
  const open: OpenCall = { toolIndex: state.toolCalls, hasArguments: false };
  state.toolCalls += 1;
  const name = state.names.toOurs(asString(asObject(call.function)?.name) ?? '');
  const id = asString(call.id) ?? `call_${open.toolIndex}`;
  events.push({ type: 'tool-call', choice: CHOICE, toolIndex: open.toolIndex, id, name });
  addArguments(call, open, events);
  return open;
}

export function addArguments(call: JsonObject, open: OpenCall, events: ChatEvent[]): void {
  const text = asString(asObject(call.function)?.arguments);
  if (text === undefined || text === '') return;
  open.hasArguments = true;
  events.push({ type: 'tool-arguments', choice: CHOICE, toolIndex: open.toolIndex, text });
}

/** A call without arguments streams none. */
export function endCall(open: OpenCall, events: ChatEvent[]): void {
  if (!open.hasArguments) addArguments({ function: { arguments: '{}' } }, open, events);
}
