import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart } from '@llm0/core/chat/request';
import { ownThoughts, type Thought } from '../claude/thoughts';
import {
  type EncodedTurns,
  encodeTurns,
  type MessageOf,
  type PartEncoders,
  refuseAudio,
  refuseEarlierAudio,
  refuseRaw,
} from '../translation/encode-turns';
import { readArguments } from '../translation/read-arguments';
import { asObject } from '../translation/read-json';
import type { DroppedParameters } from '../translation/refuse-parameter';
import { type ToolNames, toVendorName } from '../translation/vendor-names';
import { encodeFile, encodeImage, type MediaContext } from './encode-media';
import { ACCEPTED_REASONING, CALL_ID_RULE } from './wire';

export interface MessageContext extends MediaContext {
  readonly names: ToolNames;
  readonly dropped: DroppedParameters;
}

export function encodeMessages(messages: readonly ChatMessage[], context: MessageContext): EncodedTurns {
  return encodeTurns(messages, {
    dropped: context.dropped,
    encodeAssistant: (message) => encodeAssistant(message, context),
    encodeResult: (message) => encodeResult(message, context),
    encodeParts: (parts) => encodeParts(parts, context),
    isResult: ({ toolResult }) => toolResult !== undefined,
  });
}

function encodeAssistant(message: MessageOf<'assistant'>, context: MessageContext): JsonObject[] {
  refuseEarlierAudio(message, context);
  const calls = (message.toolCalls ?? []).flatMap((call) => {
    const toolUse: JsonObject = {
      toolUseId: toVendorName(call.id, CALL_ID_RULE),
      name: context.names.toVendor(call.name),
      input: readArguments(call),
    };
    const mark = asObject(call.cacheControl);
    return [{ toolUse }, ...(mark === undefined ? [] : [encodeCachePoint(mark)])];
  });
  return [
    ...ownThoughts(message, ACCEPTED_REASONING).map(encodeThought),
    ...encodeParts(message.content, context),
    ...calls,
  ];
}

function encodeThought(thought: Thought): JsonObject {
  if ('data' in thought) return { reasoningContent: { redactedContent: thought.data } };
  return { reasoningContent: { reasoningText: { text: thought.text, signature: thought.signature } } };
}

/** True where the blocks of a signed thought lead the assistant's turn. */
export function hasSignedReasoning(message: MessageOf<'assistant'>): boolean {
  return ownThoughts(message, ACCEPTED_REASONING).length > 0;
}

function encodeResult(message: MessageOf<'tool'>, context: MessageContext): JsonObject[] {
  const blocks = encodeParts(message.content, context);
  // A result can't contain a cache mark.
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

const PART_ENCODERS: PartEncoders<MessageContext> = {
  text: (part) => textBlocks(part.text),
  refusal: (part) => textBlocks(part.text),
  image: encodeImage,
  file: encodeFile,
  audio: refuseAudio,
  raw: (part, context) => (part.format === 'bedrock-converse' ? [{ ...part.value }] : refuseRaw(part, context)),
};

/** The vendor refuses text without visible characters. */
function textBlocks(text: string): JsonObject[] {
  return text.trim() === '' ? [] : [{ text }];
}
