import { type JsonObject, parseJson } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart, ToolCall } from '@llm0/core/chat/request';
import { invalidRequest } from '@llm0/core/errors/gateway-error';
import {
  encodeTurns,
  encodeUnmarked,
  type MessageOf,
  type PartEncoders,
  refuseEarlierAudio,
  refuseRaw,
} from '../translation/encode-turns';
import { readArguments } from '../translation/read-arguments';
import { asObject, asObjects } from '../translation/read-json';
import type { DroppedParameters } from '../translation/refuse-parameter';
import type { ToolNames } from '../translation/vendor-names';
import { encodeAudio, encodeFile, encodeUrl, type MediaByUrl } from './encode-media';
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

/** Marks a foreign call. Source: https://ai.google.dev/gemini-api/docs/thought-signatures#faqs */
const FOREIGN_CALL_SIGNATURE = 'skip_thought_signature_validator';

/** Our messages as turns that alternate; responses must follow the calls they answer at once. */
export function encodeMessages(messages: readonly ChatMessage[], context: MessageContext): EncodedMessages {
  const callNames = new Map<string, string>();
  const { system, messages: turns } = encodeTurns(messages, {
    dropped: context.dropped,
    isResult: ({ functionResponse }) => functionResponse !== undefined,
    encodeAssistant: (message) => {
      for (const call of message.toolCalls ?? []) callNames.set(call.id, call.name);
      return encodeAssistant(message, context);
    },
    encodeResult: (message) => encodeResult(message, callNames, context),
    encodeParts: (parts) => encodeParts(parts, context),
  });
  const contents = turns.map(({ role, content }) => ({ role: role === 'user' ? role : 'model', parts: content }));
  return { system, contents };
}

function encodeAssistant(message: MessageOf<'assistant'>, context: MessageContext): JsonObject[] {
  if (message.raw?.format === 'gemini-content') return asObjects(message.raw.value.parts);
  refuseEarlierAudio(message, context);
  const parts = encodeParts(message.content, context);
  const own = (message.reasoning ?? []).filter((part) => part.format === REASONING_FORMAT);
  const signature = own.findLast((part) => part.data !== undefined)?.data;
  const lastText = parts.findLast((part) => part.text !== undefined);
  if (signature !== undefined && lastText !== undefined) lastText.thoughtSignature = signature;
  else if (signature !== undefined) parts.push({ text: '', thoughtSignature: signature });
  return [...parts, ...encodeCalls(message.toolCalls ?? [], context)];
}

/** The vendor signs only the first of parallel calls. */
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
    throw invalidRequest(
      'messages',
      `A tool message answers the call "${message.toolCallId}", which no earlier assistant message makes.`,
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
  // Plain words are a result as well.
  const value = parseJson(text);
  return asObject(value) ?? { output: value === undefined ? text : value };
}

const encodeParts = (parts: readonly ContentPart[], context: MessageContext) =>
  encodeUnmarked(parts, PART_ENCODERS, context);

const PART_ENCODERS: PartEncoders<MessageContext> = {
  text: (part) => (part.text === '' ? [] : [{ text: part.text }]),
  refusal: (part) => (part.text === '' ? [] : [{ text: part.text }]),
  image: (part, { media }) => [encodeUrl(part.url, media)],
  audio: (part) => [encodeAudio(part)],
  file: (part, { media, dropped }) => encodeFile(part, media, dropped.refuse),
  raw: (part, context) => (part.format === 'gemini-content' ? [{ ...part.value }] : refuseRaw(part, context)),
};
