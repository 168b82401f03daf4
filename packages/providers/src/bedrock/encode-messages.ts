import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart } from '@llm0/core/chat/request';
import { readArguments } from '../translation/read-arguments';
import { asObject } from '../translation/read-json';
import type { DroppedParameters } from '../translation/refuse-parameter';
import { type ToolNames, toVendorName } from '../translation/vendor-names';
import { encodeFile, encodeImage, type MediaContext } from './encode-media';
import { ACCEPTED_REASONING, CALL_ID_RULE } from './wire';

export interface EncodedMessages {
  /** Blocks of all system and developer messages, in order. */
  readonly system: JsonObject[];
  readonly messages: JsonObject[];
}

export interface MessageContext extends MediaContext {
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
  const isResult = (block: JsonObject) => block.toolResult !== undefined;
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
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
  if (message.raw?.value.audio != null) context.dropped.refuse('messages', 'holds earlier audio, which is unknown to');
  const calls = (message.toolCalls ?? []).map((call) => ({
    toolUse: {
      toolUseId: toVendorName(call.id, CALL_ID_RULE),
      name: context.names.toVendor(call.name),
      input: readArguments(call),
    },
  }));
  return [...encodeReasoning(message), ...encodeParts(message.content, context), ...calls];
}

/** Only what the models behind this vendor signed or sealed: anything else would be refused. */
function encodeReasoning({ reasoning = [] }: MessageOf<'assistant'>): JsonObject[] {
  return reasoning.flatMap((part): JsonObject[] => {
    if (part.format !== undefined && !ACCEPTED_REASONING.has(part.format)) return [];
    if (part.data !== undefined) return [{ reasoningContent: { redactedContent: part.data } }];
    if (part.signature === undefined) return [];
    return [{ reasoningContent: { reasoningText: { text: part.text ?? '', signature: part.signature } } }];
  });
}

/** True where the blocks of a signed thought lead the assistant's turn. */
export function hasSignedReasoning(message: MessageOf<'assistant'>): boolean {
  return encodeReasoning(message).length > 0;
}

function encodeResult(message: MessageOf<'tool'>, context: MessageContext): JsonObject[] {
  const blocks = encodeParts(message.content, context);
  // A mark for the cache may not stand within a result.
  const content = blocks.filter((block) => block.cachePoint === undefined);
  const marks = blocks.filter((block) => block.cachePoint !== undefined);
  const toolResult: JsonObject = { toolUseId: toVendorName(message.toolCallId, CALL_ID_RULE), content };
  if (message.isError === true) toolResult.status = 'error';
  return [{ toolResult }, ...marks];
}

function encodeParts(parts: readonly ContentPart[], context: MessageContext): JsonObject[] {
  return parts.flatMap((part) => {
    const blocks = PART_ENCODERS[part.type](part as never, context);
    const mark = 'cacheControl' in part ? asObject(part.cacheControl) : undefined;
    return mark === undefined || blocks.length === 0 ? blocks : [...blocks, encodeCachePoint(mark)];
  });
}

/** `cache_control` → the point up to which is cached. */
export function encodeCachePoint(mark: JsonObject): JsonObject {
  return { cachePoint: { type: 'default', ...(mark.ttl === '1h' ? { ttl: '1h' } : {}) } };
}

const PART_ENCODERS: {
  readonly [K in ContentPart['type']]: (
    part: Extract<ContentPart, { type: K }>,
    context: MessageContext,
  ) => JsonObject[];
} = {
  text: (part) => textBlocks(part.text),
  refusal: (part) => textBlocks(part.text),
  image: encodeImage,
  file: encodeFile,
  audio: (_part, { dropped }) => {
    dropped.refuse('messages', 'holds audio, which is not supported by');
    return [];
  },
  raw: (part, { dropped }) => {
    if (part.format === 'bedrock-converse') return [{ ...part.value }];
    dropped.refuse('messages', `holds a part of type "${String(part.value.type ?? 'unknown')}", which is unknown to`);
    return [];
  },
};

/** Text without any visible character is refused by the vendor, and says nothing. */
function textBlocks(text: string): JsonObject[] {
  return text.trim() === '' ? [] : [{ text }];
}
