import type { ChatEvent } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
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
import { nativeBlock, readInput } from '../claude/native-blocks';
import { asObject, asString } from '../translation/read-json';
import type { ToolNames } from '../translation/vendor-names';
import { REASONING_FORMAT } from './wire';

/** State across the blocks of one answer. */
export interface AnswerState extends SharedState {
  /** All blocks as the vendor means them, for callers of the same format. */
  readonly nativeBlocks: JsonObject[] | undefined;
}

export function createAnswerState(names: ToolNames, keepsNative: boolean): AnswerState {
  return { ...createSharedState(names), nativeBlocks: keepsNative ? [] : undefined };
}

/** One incomplete content block. */
export interface OpenBlock {
  readonly block: JsonObject;
  readonly kind: BlockKind;
  readonly toolIndex: number;
  thinking: string;
  signature: string;
  /** JSON text of a tool's input so far. */
  input: string;
  /** Filled only if native blocks are stored. */
  text: string;
  readonly citations: JsonObject[];
}

type BlockKind = 'text' | 'thinking' | 'redacted_thinking' | 'tool_use' | 'json_answer' | 'foreign';

function kindOf(block: JsonObject): BlockKind {
  if (block.type === 'tool_use') return block.name === JSON_TOOL_NAME ? 'json_answer' : 'tool_use';
  const known = block.type === 'text' || block.type === 'thinking' || block.type === 'redacted_thinking';
  return known ? (block.type as BlockKind) : 'foreign';
}

/** A block begins; in a plain answer it is whole already. */
export function openBlock(block: JsonObject, state: AnswerState, events: ChatEvent[]): OpenBlock {
  const kind = kindOf(block);
  const open: OpenBlock = {
    ...{ block, kind, toolIndex: state.toolCalls },
    ...{ thinking: '', signature: '', input: '', text: '', citations: [] },
  };
  if (kind === 'tool_use') events.push(beginCall(block, state));
  addText(asString(block.text), open, state, events);
  addThinking(asString(block.thinking), open, events);
  open.signature = asString(block.signature) ?? '';
  if (Array.isArray(block.citations)) for (const item of block.citations) addCitation(item, open, state);
  return open;
}

/** A piece of a block. Kinds that are not known only count. */
export function decodeDelta(delta: JsonObject, open: OpenBlock, state: AnswerState, events: ChatEvent[]): void {
  const before = events.length;
  if (delta.text !== undefined) addText(asString(delta.text), open, state, events);
  if (delta.thinking !== undefined) addThinking(asString(delta.thinking), open, events);
  // A signature arrives whole and replaces an earlier one: joined ones would be invalid and could hide a text.
  if (delta.signature !== undefined) open.signature = asString(delta.signature) ?? open.signature;
  if (delta.partial_json !== undefined) addInput(asString(delta.partial_json), open, events);
  if (delta.citation !== undefined) addCitation(delta.citation, open, state);
  const isKept = delta.signature ?? delta.partial_json ?? delta.citation;
  if (events.length === before && isKept === undefined) events.push({ type: 'unread', bytes: countOutput(delta) });
}

/** Events that need a complete block. */
export function closeBlock(open: OpenBlock, state: AnswerState, events: ChatEvent[]): void {
  const { block, kind } = open;
  if ((kind === 'tool_use' || kind === 'json_answer') && open.input === '') {
    addInput(JSON.stringify(asObject(block.input) ?? {}), open, events);
  } else if (kind === 'thinking') {
    events.push(thoughtDetail(open.thinking, open.signature, REASONING_FORMAT));
  } else if (kind === 'redacted_thinking') {
    events.push(sealedDetail(asString(block.data) ?? '', REASONING_FORMAT));
  } else if (kind === 'foreign') {
    state.foreignBlocks.push(open.input === '' ? block : { ...block, input: readInput(open.input) });
  }
  state.nativeBlocks?.push(nativeBlock(open));
}

function addText(text: string | undefined, open: OpenBlock, state: AnswerState, events: ChatEvent[]): void {
  if (text === undefined || text === '' || open.kind !== 'text') return;
  if (state.nativeBlocks !== undefined) open.text += text;
  events.push({ type: 'text', choice: CHOICE, text });
}

function addThinking(text: string | undefined, open: OpenBlock, events: ChatEvent[]): void {
  if (text === undefined || text === '') return;
  open.thinking += text;
  events.push({ type: 'reasoning', choice: CHOICE, text });
}

function addInput(text: string | undefined, open: OpenBlock, events: ChatEvent[]): void {
  if (text === undefined || text === '') return;
  open.input += text;
  if (open.kind === 'json_answer') events.push({ type: 'text', choice: CHOICE, text });
  if (open.kind !== 'tool_use') return;
  events.push({ type: 'tool-arguments', choice: CHOICE, toolIndex: open.toolIndex, text });
}

function addCitation(value: JsonValue | undefined, open: OpenBlock, state: AnswerState): void {
  const citation = asObject(value);
  if (citation === undefined) return;
  state.citations.push(citation);
  open.citations.push(citation);
}
