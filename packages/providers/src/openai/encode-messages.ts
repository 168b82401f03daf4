import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart, ToolCall } from '@llm0/core/chat/request';
import { encodeUnmarked, type MessageOf, type PartEncoders, refuseRaw } from '../translation/encode-turns';
import type { DroppedParameters } from '../translation/refuse-parameter';
import { encodeFile, type MediaByUrl } from './encode-media';

export interface MessageContext {
  readonly dropped: DroppedParameters;
  /** Fetched content of the request's http(s) URLs of files. */
  readonly media: MediaByUrl;
}

/**
 * Messages in the vendor's format; assistant turns of this format pass unchanged. Drops and reports cache marks (the
 * vendor caches automatically) and earlier reasoning (the format has no field).
 */
export function encodeMessages(messages: readonly ChatMessage[], context: MessageContext): JsonObject[] {
  const encoded: JsonObject[] = [];
  let media: JsonObject[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      const result = encodeResult(message, context);
      encoded.push(result.message);
      media.push(...result.media);
      continue;
    }
    if (media.length > 0) encoded.push({ role: 'user', content: media });
    media = [];
    encoded.push(message.role === 'assistant' ? encodeAssistant(message, context) : encodePlain(message, context));
  }
  if (media.length > 0) encoded.push({ role: 'user', content: media });
  return encoded;
}

function encodePlain(message: MessageOf<'system' | 'developer' | 'user'>, context: MessageContext): JsonObject {
  const encoded: JsonObject = { role: message.role, content: encodeContent(message.content, context) };
  if (message.name !== undefined) encoded.name = message.name;
  return encoded;
}

const FAILED = 'Error: ';

/** Results are text here: other content follows as the user's, after all results of the turn. */
function encodeResult(
  { toolCallId, content, isError }: MessageOf<'tool'>,
  context: MessageContext,
): { readonly message: JsonObject; readonly media: readonly JsonObject[] } {
  const parts = encodeParts(content, context);
  const media = parts.filter((part) => part.type !== 'text');
  const texts = parts.filter((part) => part.type === 'text');
  if (media.length > 0) {
    media.unshift({ type: 'text', text: `Shown by the tool call ${toolCallId}:` });
    if (texts.length === 0) texts.push({ type: 'text', text: 'The result is shown below.' });
  }
  // The format cannot mark a failure but in words.
  if (isError === true) texts[0] = { type: 'text', text: `${FAILED}${String(texts[0]?.text ?? '')}` };
  return { message: { role: 'tool', content: plainest(texts), tool_call_id: toolCallId }, media };
}

function encodeAssistant(message: MessageOf<'assistant'>, context: MessageContext): JsonObject {
  if (message.raw?.format === 'openai-chat') return message.raw.value;
  if (message.reasoning !== undefined) context.dropped.note('messages.thinking');
  const encoded: JsonObject = { role: 'assistant' };
  const refusal = message.content.flatMap((part) => (part.type === 'refusal' ? [part.text] : []));
  const content = message.content.filter((part) => part.type !== 'refusal');
  encoded.content = content.length === 0 ? null : encodeContent(content, context);
  if (refusal.length > 0) encoded.refusal = refusal.join('');
  if (message.name !== undefined) encoded.name = message.name;
  if (message.toolCalls !== undefined && message.toolCalls.length > 0) {
    encoded.tool_calls = message.toolCalls.map(encodeToolCall);
  }
  return encoded;
}

function encodeToolCall(call: ToolCall): JsonObject {
  if (call.custom === true) {
    return { id: call.id, type: 'custom', custom: { name: call.name, input: call.arguments } };
  }
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } };
}

function encodeContent(parts: readonly ContentPart[], context: MessageContext): JsonValue {
  return plainest(encodeParts(parts, context));
}

/** Plain text stays plain text: older servers know nothing else. */
function plainest(parts: readonly JsonObject[]): JsonValue {
  const [only] = parts;
  if (only === undefined) return '';
  return parts.length === 1 && only.type === 'text' ? (only.text ?? '') : [...parts];
}

const encodeParts = (parts: readonly ContentPart[], context: MessageContext) =>
  encodeUnmarked(parts, PART_ENCODERS, context);

const PART_ENCODERS: PartEncoders<MessageContext> = {
  text: (part) => [{ type: 'text', text: part.text }],
  image: (part) => [
    {
      type: 'image_url',
      image_url: { url: part.url, ...(part.detail === undefined ? {} : { detail: part.detail }) },
    },
  ],
  audio: (part) => [{ type: 'input_audio', input_audio: { data: part.dataBase64, format: part.format } }],
  file: (part, { media }) => [encodeFile(part, media)],
  refusal: (part) => [{ type: 'refusal', refusal: part.text }],
  raw: (part, context) => (part.format === 'openai-chat' ? [part.value] : refuseRaw(part, context)),
};
