import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
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
  type Turn,
} from '../translation/encode-turns';
import { readArguments } from '../translation/read-arguments';
import { asObjects } from '../translation/read-json';
import type { DroppedParameters } from '../translation/refuse-parameter';
import { type ToolNames, toVendorName } from '../translation/vendor-names';
import { encodeFile, encodeImage } from './encode-media';
import { CALL_ID_RULE, REASONING_FORMAT } from './wire';

export interface MessageContext {
  readonly names: ToolNames;
  readonly dropped: DroppedParameters;
}

export function encodeMessages(messages: readonly ChatMessage[], context: MessageContext): EncodedTurns {
  const encoded = encodeTurns(messages, {
    dropped: context.dropped,
    encodeAssistant: (message) => encodeAssistant(message, context),
    encodeResult: (message) => encodeResult(message, context),
    encodeParts: (parts) => encodeParts(parts, context),
    isResult: ({ type }) => type === 'tool_result',
  });
  trimEnd(encoded.messages.at(-1));
  return encoded;
}

/** A last assistant turn is a prefill, which must not end in white space. */
function trimEnd(turn: Turn | undefined): void {
  const block = turn?.role === 'assistant' ? turn.content.at(-1) : undefined;
  if (block?.type === 'text' && typeof block.text === 'string') block.text = block.text.trimEnd();
}

function encodeAssistant(message: MessageOf<'assistant'>, context: MessageContext): JsonObject[] {
  if (message.raw?.format === 'anthropic-messages') return asObjects(message.raw.value.content);
  refuseEarlierAudio(message, context);
  const calls = (message.toolCalls ?? []).map((call) => ({
    type: 'tool_use',
    id: toVendorName(call.id, CALL_ID_RULE),
    name: context.names.toVendor(call.name),
    input: readArguments(call),
    ...(call.cacheControl === undefined ? {} : { cache_control: call.cacheControl }),
  }));
  return [...ownThoughts(message, OWN_FORMATS).map(encodeThought), ...encodeParts(message.content, context), ...calls];
}

const OWN_FORMATS = new Set([REASONING_FORMAT]);

function encodeThought(thought: Thought): JsonObject {
  if ('data' in thought) return { type: 'redacted_thinking', data: thought.data };
  return { type: 'thinking', thinking: thought.text, signature: thought.signature };
}

/** True where the blocks of a signed thought lead the assistant's turn. */
export function hasSignedReasoning(message: MessageOf<'assistant'>): boolean {
  return ownThoughts(message, OWN_FORMATS).length > 0 || message.raw?.format === 'anthropic-messages';
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

const PART_ENCODERS: PartEncoders<MessageContext> = {
  text: (part) => textBlocks(part.text),
  refusal: (part) => textBlocks(part.text),
  image: (part, { dropped }) => encodeImage(part, dropped.refuse),
  file: (part, { dropped }) => encodeFile(part, dropped.refuse),
  audio: refuseAudio,
  raw: (part, context) => {
    // Blocks of the vendor's own that a client put among the parts of another format.
    if (part.format === 'anthropic-messages' || part.value.source !== undefined) return [{ ...part.value }];
    return refuseRaw(part, context);
  },
};

/** The vendor refuses text without visible characters. */
function textBlocks(text: string): JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}
