import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart } from '@llm0/core/chat/request';
import { readArguments } from '../translation/read-arguments';
import { asObjects } from '../translation/read-json';
import type { DroppedParameters } from '../translation/refuse-parameter';
import { type ToolNames, toVendorName } from '../translation/vendor-names';
import { encodeFile, encodeImage } from './encode-media';
import { CALL_ID_RULE, REASONING_FORMAT } from './wire';

export interface EncodedMessages {
  /** Blocks of all system and developer messages, in order. */
  readonly system: JsonObject[];
  readonly messages: JsonObject[];
}

export interface MessageContext {
  readonly names: ToolNames;
  readonly dropped: DroppedParameters;
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
}

/**
 * Our messages as turns that alternate: consecutive ones of a role are merged, tool results become part of the user's
 * turn, and system messages stand apart wherever they were.
 */
export function encodeMessages(messages: readonly ChatMessage[], context: MessageContext): EncodedMessages {
  const system: JsonObject[] = [];
  const turns: Turn[] = [];
  for (const message of messages) {
    if ('name' in message && message.name !== undefined && message.role !== 'tool')
      context.dropped.note('messages.name');
    const blocks = ROLE_ENCODERS[message.role](message as never, context);
    if (message.role === 'system' || message.role === 'developer') system.push(...blocks);
    else addTurn(turns, message.role === 'assistant' ? 'assistant' : 'user', blocks);
  }
  trimEnd(turns.at(-1));
  return { system, messages: turns.map(({ role, content }) => ({ role, content: resultsFirst(content) })) };
}

function addTurn(turns: Turn[], role: Turn['role'], blocks: JsonObject[]): void {
  if (blocks.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === role) last.content.push(...blocks);
  else turns.push({ role, content: [...blocks] });
}

/** Results must come ahead of anything else in their turn. */
function resultsFirst(blocks: readonly JsonObject[]): JsonObject[] {
  const isResult = (block: JsonObject) => block.type === 'tool_result';
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

/** A last turn of the assistant's is a beginning to go on from, which may not end in white space. */
function trimEnd(turn: Turn | undefined): void {
  const block = turn?.role === 'assistant' ? turn.content.at(-1) : undefined;
  if (block?.type === 'text' && typeof block.text === 'string') block.text = block.text.trimEnd();
}

type MessageOf<R extends ChatMessage['role']> = Extract<ChatMessage, { role: R }>;

const ROLE_ENCODERS: {
  readonly [R in ChatMessage['role']]: (message: MessageOf<R>, context: MessageContext) => JsonObject[];
} = {
  system: ({ content }, context) => encodeParts(content, context),
  developer: ({ content }, context) => encodeParts(content, context),
  user: ({ content }, context) => encodeParts(content, context),
  assistant: encodeAssistant,
  tool: encodeResult,
};

function encodeAssistant(message: MessageOf<'assistant'>, context: MessageContext): JsonObject[] {
  if (message.raw?.format === 'anthropic-messages') return asObjects(message.raw.value.content);
  if (message.raw?.value.audio != null) context.dropped.refuse('messages', 'holds earlier audio, which is unknown to');
  const calls = (message.toolCalls ?? []).map((call) => ({
    type: 'tool_use',
    id: toVendorName(call.id, CALL_ID_RULE),
    name: context.names.toVendor(call.name),
    input: readArguments(call),
  }));
  return [...encodeReasoning(message), ...encodeParts(message.content, context), ...calls];
}

/** Only what this vendor signed or sealed itself: anything else it would refuse. */
function encodeReasoning({ reasoning = [] }: MessageOf<'assistant'>): JsonObject[] {
  return reasoning.flatMap((part): JsonObject[] => {
    if (part.format !== undefined && part.format !== REASONING_FORMAT) return [];
    if (part.data !== undefined) return [{ type: 'redacted_thinking', data: part.data }];
    if (part.signature === undefined) return [];
    return [{ type: 'thinking', thinking: part.text ?? '', signature: part.signature }];
  });
}

/** True where the blocks of a signed thought lead the assistant's turn. */
export function hasSignedReasoning(message: MessageOf<'assistant'>): boolean {
  return encodeReasoning(message).length > 0 || message.raw?.format === 'anthropic-messages';
}

function encodeResult(message: MessageOf<'tool'>, context: MessageContext): JsonObject[] {
  const blocks = encodeParts(message.content, context);
  const [only] = blocks;
  const plain = blocks.length === 1 && only?.type === 'text' && only.cache_control === undefined;
  const content: JsonValue = plain ? (only?.text ?? '') : blocks;
  return [
    {
      type: 'tool_result',
      tool_use_id: toVendorName(message.toolCallId, CALL_ID_RULE),
      ...(blocks.length === 0 ? {} : { content }),
      ...(message.isError === true ? { is_error: true } : {}),
    },
  ];
}

function encodeParts(parts: readonly ContentPart[], context: MessageContext): JsonObject[] {
  return parts.flatMap((part) => {
    const blocks = PART_ENCODERS[part.type](part as never, context);
    const mark = 'cacheControl' in part ? part.cacheControl : undefined;
    const last = blocks.at(-1);
    if (mark !== undefined && last !== undefined) last.cache_control = mark;
    return blocks;
  });
}

const PART_ENCODERS: {
  readonly [K in ContentPart['type']]: (
    part: Extract<ContentPart, { type: K }>,
    context: MessageContext,
  ) => JsonObject[];
} = {
  text: (part) => textBlocks(part.text),
  refusal: (part) => textBlocks(part.text),
  image: (part, { dropped }) => encodeImage(part, dropped.refuse),
  file: (part, { dropped }) => encodeFile(part, dropped.refuse),
  audio: (_part, { dropped }) => {
    dropped.refuse('messages', 'holds audio, which is not supported by');
    return [];
  },
  raw: (part, { dropped }) => {
    // Blocks of the vendor's own that a client put among the parts of another format.
    if (part.format === 'anthropic-messages' || part.value.source !== undefined) return [{ ...part.value }];
    dropped.refuse('messages', `holds a part of type "${String(part.value.type ?? 'unknown')}", which is unknown to`);
    return [];
  },
};

/** Text without any visible character is refused by the vendor, and says nothing. */
function textBlocks(text: string): JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}
