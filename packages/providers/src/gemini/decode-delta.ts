import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import { asObject, asString } from '../translation/read-json';
import type { ToolNames } from '../translation/vendor-names';
import { REASONING_FORMAT } from './wire';

/** State of a candidate while its parts arrive. */
export interface CandidateState {
  readonly choice: number;
  toolCalls: number;
  hasOutput: boolean;
  finishReason: string | undefined;
  readonly images: JsonObject[];
  /** An image is part of the answer. */
  hasImage: boolean;
  /** Parts of the vendor's own tools, stored whole for clients that know them. */
  readonly foreignParts: JsonObject[];
  /** Other fields of the candidate; the last value counts. */
  readonly extras: Map<string, JsonObject>;
}

export function createCandidateState(choice: number): CandidateState {
  return {
    choice,
    toolCalls: 0,
    hasOutput: false,
    finishReason: undefined,
    images: [],
    hasImage: false,
    foreignParts: [],
    extras: new Map(),
  };
}

export interface PartContext {
  readonly names: ToolNames;
  /** Base for ids of calls without one. */
  readonly idBase: string;
}

/** One part of a candidate's content; parts are always whole but for their text. */
export function decodePart(part: JsonObject, state: CandidateState, context: PartContext, events: ChatEvent[]): void {
  const { choice } = state;
  const before = events.length;
  const signature = asString(part.thoughtSignature) || undefined;
  const call = asObject(part.functionCall);
  const text = asString(part.text) || undefined;
  if (call !== undefined) addCall(call, signature, { state, context, events });
  else if (text !== undefined) events.push({ type: part.thought === true ? 'reasoning' : 'text', choice, text });
  else addForeign(part, state);
  if (call === undefined && signature !== undefined) {
    const detail = { type: 'reasoning.encrypted', data: signature, format: REASONING_FORMAT };
    events.push({ type: 'reasoning-detail', choice, detail });
  }
  state.hasOutput ||= events.length > before || state.images.length > 0;
}

interface CallTarget {
  readonly state: CandidateState;
  readonly context: PartContext;
  readonly events: ChatEvent[];
}

/** Calls are counted over the whole answer: chunks do not number them. */
function addCall(call: JsonObject, signature: string | undefined, { state, context, events }: CallTarget): void {
  const { choice } = state;
  const toolIndex = state.toolCalls;
  state.toolCalls += 1;
  events.push({
    type: 'tool-call',
    choice,
    toolIndex,
    id: asString(call.id) || `call_${context.idBase}_${choice}_${toolIndex}`,
    name: context.names.toOurs(asString(call.name) ?? ''),
    ...(signature === undefined ? {} : { signature }),
  });
  events.push({ type: 'tool-arguments', choice, toolIndex, text: JSON.stringify(asObject(call.args) ?? {}) });
}

/** True for an image of the answer; those of its thoughts are no output. */
export const isImage = ({ inlineData, thought }: JsonObject): boolean =>
  thought !== true && asString(asObject(inlineData)?.mimeType)?.startsWith('image/') === true;

function addForeign(part: JsonObject, state: CandidateState): void {
  const media = asObject(part.inlineData);
  if (media !== undefined) {
    state.hasImage ||= isImage(part);
    const url = `data:${asString(media.mimeType) ?? ''};base64,${asString(media.data) ?? ''}`;
    state.images.push({ type: 'image_url', image_url: { url } });
    return;
  }
  const isEmpty = Object.keys(part).every((name) => name === 'text' || name.startsWith('thought'));
  if (!isEmpty) state.foreignParts.push(part);
}
