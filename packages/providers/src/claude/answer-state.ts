import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import { asString } from '../translation/read-json';
import type { ToolNames } from '../translation/vendor-names';

/** The models give one choice. */
export const CHOICE = 0;

/** State across the blocks of one answer. */
export interface SharedState {
  readonly names: ToolNames;
  toolCalls: number;
  readonly citations: JsonObject[];
  /** Blocks that our types don't hold, stored whole for clients that know them. */
  readonly foreignBlocks: JsonObject[];
}

export function createSharedState(names: ToolNames): SharedState {
  return { names, toolCalls: 0, citations: [], foreignBlocks: [] };
}

/** A tool is called: the next call of the answer. */
export function beginCall(call: { id?: JsonObject[string]; name?: JsonObject[string] }, state: SharedState): ChatEvent {
  const toolIndex = state.toolCalls;
  state.toolCalls += 1;
  const id = asString(call.id) ?? `call_${toolIndex}`;
  return { type: 'tool-call', choice: CHOICE, toolIndex, id, name: state.names.toOurs(asString(call.name) ?? '') };
}

/** Fields outside of block events. */
export function closeAnswer({ citations, foreignBlocks }: SharedState, events: ChatEvent[]): void {
  for (const [name, value] of Object.entries({ citations, native_content: foreignBlocks })) {
    if (value.length > 0) events.push({ type: 'extra', scope: 'message', choice: CHOICE, name, value });
  }
}

/** A whole thought with its signature, for clients that send it back. */
export function thoughtDetail(text: string, signature: string, format: string): ChatEvent {
  const signed: JsonObject = signature === '' ? {} : { signature };
  return { type: 'reasoning-detail', choice: CHOICE, detail: { type: 'reasoning.text', text, ...signed, format } };
}

export function sealedDetail(data: string, format: string): ChatEvent {
  return { type: 'reasoning-detail', choice: CHOICE, detail: { type: 'reasoning.encrypted', data, format } };
}
