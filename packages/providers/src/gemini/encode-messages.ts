import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart, ToolCall } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { readArguments } from '../translation/read-arguments';
import { asObject, asObjects } from '../translation/read-json';
import type { DroppedParameters } from '../translation/refuse-parameter';
import type { ToolNames } from '../translation/vendor-names';
import { encodeAudio, encodeFile, encodeImage, type MediaByUrl } from './encode-media';
import { REASONING_FORMAT } from './wire';

export interface EncodedMessages {
  /** Parts of all system and developer messages, in order. */
  readonly system: JsonObject[];
  readonly contents: JsonObject[];
}

export interface MessageContext {
  readonly names: ToolNames;
  readonly dropped: DroppedParameters;
  /** Fetched content of the request's http(s) URLs. */
  readonly media: MediaByUrl;
  /** Calls without the vendor's own signature must be marked as such. */
  readonly signedCalls: boolean;
}

/** Says that a call comes from elsewhere. Source: https://ai.google.dev/gemini-api/docs/thought-signatures#faqs */
const FOREIGN_CALL_SIGNATURE = 'skip_thought_signature_validator';

interface Turn {
  readonly role: 'user' | 'model';
  readonly parts: JsonObject[];
}

/** Our messages as turns that alternate; results of tools are the user's, and system messages stand apart. */
export function encodeMessages(messages: readonly ChatMessage[], context: MessageContext): EncodedMessages {
  const system: JsonObject[] = [];
  const turns: Turn[] = [];
  const callNames = new Map<string, string>();
  for (const message of messages) {
    if ('name' in message && message.name !== undefined && message.role !== 'tool')
      context.dropped.note('messages.name');
    if (message.role === 'system' || message.role === 'developer') {
      system.push(...encodeParts(message.content, context));
    } else if (message.role === 'assistant') {
      for (const call of message.toolCalls ?? []) callNames.set(call.id, call.name);
      addTurn(turns, 'model', encodeAssistant(message, context));
    } else if (message.role === 'tool') {
      addTurn(turns, 'user', encodeResult(message, callNames, context));
    } else {
      addTurn(turns, 'user', encodeParts(message.content, context));
    }
  }
  return { system, contents: turns.map(({ role, parts }) => ({ role, parts: responsesFirst(parts) })) };
}

function addTurn(turns: Turn[], role: Turn['role'], parts: JsonObject[]): void {
  if (parts.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === role) last.parts.push(...parts);
  else turns.push({ role, parts: [...parts] });
}

/** Responses must follow the calls they answer at once. */
function responsesFirst(parts: readonly JsonObject[]): JsonObject[] {
  const isResponse = (part: JsonObject) => part.functionResponse !== undefined;
  return [...parts.filter(isResponse), ...parts.filter((part) => !isResponse(part))];
}

type MessageOf<R extends ChatMessage['role']> = Extract<ChatMessage, { role: R }>;

function encodeAssistant(message: MessageOf<'assistant'>, context: MessageContext): JsonObject[] {
  if (message.raw?.format === 'gemini-content') return asObjects(message.raw.value.parts);
  if (message.raw?.value.audio != null) context.dropped.refuse('messages', 'holds earlier audio, which is unknown to');
  const parts = encodeParts(message.content, context);
  const own = (message.reasoning ?? []).filter((part) => part.format === REASONING_FORMAT);
  const signature = own.findLast((part) => part.data !== undefined)?.data;
  const lastText = parts.findLast((part) => part.text !== undefined);
  if (signature !== undefined && lastText !== undefined) lastText.thoughtSignature = signature;
  else if (signature !== undefined) parts.push({ text: '', thoughtSignature: signature });
  return [...parts, ...encodeCalls(message.toolCalls ?? [], context)];
}

/** Of parallel calls the vendor signs the first one only. */
function encodeCalls(calls: readonly ToolCall[], context: MessageContext): JsonObject[] {
  const unsigned = context.signedCalls && calls.every((call) => call.signature === undefined);
  return calls.map((call, i) => {
    const signature = call.signature ?? (unsigned && i === 0 ? FOREIGN_CALL_SIGNATURE : undefined);
    return {
      functionCall: { id: call.id, name: context.names.toVendor(call.name), args: readArguments(call) },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    };
  });
}

function encodeResult(
  message: MessageOf<'tool'>,
  callNames: ReadonlyMap<string, string>,
  context: MessageContext,
): JsonObject[] {
  const name = callNames.get(message.toolCallId) ?? message.name;
  if (name === undefined) {
    throw new GatewayError(
      'invalid_request',
      `A tool message answers the call "${message.toolCallId}", which no earlier assistant message makes.`,
      { param: 'messages' },
    );
  }
  const parts = encodeParts(message.content, context);
  const text = parts.map((part) => (typeof part.text === 'string' ? part.text : '')).join('');
  const response = message.isError === true ? { error: text } : readResponse(text);
  return [
    { functionResponse: { id: message.toolCallId, name: context.names.toVendor(name), response } },
    ...parts.filter((part) => part.text === undefined),
  ];
}

/** Responses are objects; anything else goes under the key that the vendor reads as the whole output. */
function readResponse(text: string): JsonObject {
  let value: JsonValue = text;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    // Plain words are a result as well.
  }
  return asObject(value) ?? { output: value };
}

function encodeParts(parts: readonly ContentPart[], context: MessageContext): JsonObject[] {
  return parts.flatMap((part) => {
    if ('cacheControl' in part && part.cacheControl !== undefined) context.dropped.note('cache_control');
    return PART_ENCODERS[part.type](part as never, context);
  });
}

const PART_ENCODERS: {
  readonly [K in ContentPart['type']]: (
    part: Extract<ContentPart, { type: K }>,
    context: MessageContext,
  ) => JsonObject[];
} = {
  text: (part) => (part.text === '' ? [] : [{ text: part.text }]),
  refusal: (part) => (part.text === '' ? [] : [{ text: part.text }]),
  image: (part, { media }) => [encodeImage(part, media)],
  audio: (part) => [encodeAudio(part)],
  file: (part, { media, dropped }) => encodeFile(part, media, dropped.refuse),
  raw: (part, { dropped }) => {
    if (part.format === 'gemini-content') return [{ ...part.value }];
    dropped.refuse('messages', `holds a part of type "${String(part.value.type ?? 'unknown')}", which is unknown to`);
    return [];
  },
};
