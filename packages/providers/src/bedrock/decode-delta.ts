import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import { countOutput } from '@llm0/core/pricing/count-output';
import { JSON_TOOL_NAME } from '../claude/answer-format';
import {
  beginCall,
  CHOICE,
  createSharedState,
  type SharedState,
  sealedDetail,
  thoughtDetail,
} from '../claude/answer-state';
import { asObject, asObjects, asString } from '../translation/read-json';
import type { ToolNames } from '../translation/vendor-names';
import { REASONING_FORMAT } from './wire';

/** State across the blocks of one answer. */
export interface AnswerState extends SharedState {
  /** True once output was sent. */
  hasOutput: boolean;
}

export function createAnswerState(names: ToolNames): AnswerState {
  return { ...createSharedState(names), hasOutput: false };
}

/** One incomplete content block; its first piece shows its kind. */
export interface OpenBlock {
  call?: { readonly toolIndex: number; readonly isAnswer: boolean };
  thinking?: { text: string; signature: string; redacted: string };
  /** JSON text of a tool's input so far. */
  input: string;
}

export function createBlock(): OpenBlock {
  return { input: '' };
}

/** Opens a tool call; one that replaces structured output is the answer itself. */
export function openCall(call: JsonObject, open: OpenBlock, state: AnswerState, events: ChatEvent[]): void {
  const isAnswer = call.name === JSON_TOOL_NAME;
  open.call = { toolIndex: state.toolCalls, isAnswer };
  if (isAnswer) return;
  state.hasOutput = true;
  events.push(beginCall({ id: call.toolUseId, name: call.name }, state));
}

/** A piece of a block; in a plain answer it is the whole block. Kinds that are not known only count. */
export function decodeDelta(delta: JsonObject, open: OpenBlock, state: AnswerState, events: ChatEvent[]): void {
  addText(asString(delta.text), state, events);
  const input = asObject(delta.toolUse)?.input;
  if (typeof input === 'string') addInput(input, open, state, events);
  const reasoning = asObject(delta.reasoningContent);
  if (reasoning !== undefined)
    addReasoning(asObject(reasoning.reasoningText) ?? reasoning, reasoning, { open, state, events });
  const citation = asObject(delta.citation);
  if (citation !== undefined) state.citations.push(citation);
  if ((delta.text ?? delta.toolUse ?? reasoning ?? citation) === undefined) {
    events.push({ type: 'unread', bytes: countOutput(delta) });
  }
}

/** A complete block. */
export function decodeBlock(block: JsonObject, state: AnswerState, events: ChatEvent[]): void {
  const open = createBlock();
  const call = asObject(block.toolUse);
  const cited = asObject(block.citationsContent);
  if (call !== undefined) {
    openCall(call, open, state, events);
    addInput(JSON.stringify(asObject(call.input) ?? {}), open, state, events);
  } else if (cited !== undefined) {
    for (const part of asObjects(cited.content)) addText(asString(part.text), state, events);
    state.citations.push(...asObjects(cited.citations));
  } else if (block.text === undefined && block.reasoningContent === undefined) state.foreignBlocks.push(block);
  else decodeDelta(block, open, state, events);
  closeBlock(open, state, events);
}

/** Events that need a complete block. */
export function closeBlock(open: OpenBlock, state: AnswerState, events: ChatEvent[]): void {
  const { call, thinking } = open;
  if (call !== undefined && open.input === '') addInput('{}', open, state, events);
  if (thinking === undefined) return;
  if (thinking.redacted !== '') events.push(sealedDetail(thinking.redacted, REASONING_FORMAT));
  if (thinking.text === '' && thinking.signature === '') return;
  events.push(thoughtDetail(thinking.text, thinking.signature, REASONING_FORMAT));
}

function addText(text: string | undefined, state: AnswerState, events: ChatEvent[]): void {
  if (text === undefined || text === '') return;
  state.hasOutput = true;
  events.push({ type: 'text', choice: CHOICE, text });
}

interface ReasoningTarget {
  readonly open: OpenBlock;
  readonly state: AnswerState;
  readonly events: ChatEvent[];
}

/** Pieces hold text and signature themselves, whole blocks have them one level deeper. */
function addReasoning(piece: JsonObject, outer: JsonObject, { open, state, events }: ReasoningTarget): void {
  open.thinking ??= { text: '', signature: '', redacted: '' };
  open.thinking.signature += asString(piece.signature) ?? '';
  open.thinking.redacted += asString(outer.redactedContent) ?? '';
  const text = asString(piece.text);
  if (text === undefined || text === '') return;
  open.thinking.text += text;
  state.hasOutput = true;
  events.push({ type: 'reasoning', choice: CHOICE, text });
}

function addInput(text: string, open: OpenBlock, state: AnswerState, events: ChatEvent[]): void {
  if (text === '' || open.call === undefined) return;
  open.input += text;
  const { toolIndex, isAnswer } = open.call;
  if (isAnswer) addText(text, state, events);
  else events.push({ type: 'tool-arguments', choice: CHOICE, toolIndex, text });
}
