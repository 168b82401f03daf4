import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart, ToolCall } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';

/**
 * Our messages in the vendor's format; assistant turns that came in this format are sent as they were. Cache marks are
 * left out (the vendor caches by itself) and so is earlier reasoning, which the format has no field for.
 */
export function encodeMessages(messages: readonly ChatMessage[]): JsonObject[] {
  return messages.map((message) => {
    if (message.role === 'assistant') return encodeAssistant(message);
    const encoded: JsonObject = { role: message.role, content: encodeContent(message.content) };
    if (message.role === 'tool') encoded.tool_call_id = message.toolCallId;
    else if (message.name !== undefined) encoded.name = message.name;
    return encoded;
  });
}

function encodeAssistant(message: Extract<ChatMessage, { role: 'assistant' }>): JsonObject {
  if (message.raw?.format === 'openai-chat') return message.raw.value;
  const encoded: JsonObject = { role: 'assistant' };
  const refusal = message.content.flatMap((part) => (part.type === 'refusal' ? [part.text] : []));
  const content = message.content.filter((part) => part.type !== 'refusal');
  encoded.content = content.length === 0 ? null : encodeContent(content);
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

/** Plain text stays plain text: older servers know nothing else. */
function encodeContent(parts: readonly ContentPart[]): JsonValue {
  const [only] = parts;
  if (only === undefined) return '';
  if (parts.length === 1 && only.type === 'text') return only.text;
  return parts.map((part) => PART_ENCODERS[part.type](part as never));
}

const PART_ENCODERS: { [K in ContentPart['type']]: (part: Extract<ContentPart, { type: K }>) => JsonObject } = {
  text: (part) => ({ type: 'text', text: part.text }),
  image: (part) => ({
    type: 'image_url',
    image_url: { url: part.url, ...(part.detail === undefined ? {} : { detail: part.detail }) },
  }),
  audio: (part) => ({ type: 'input_audio', input_audio: { data: part.dataBase64, format: part.format } }),
  file: (part) => {
    const file: JsonObject = {};
    if (part.dataUrl !== undefined) file.file_data = part.dataUrl;
    if (part.fileId !== undefined) file.file_id = part.fileId;
    if (part.filename !== undefined) file.filename = part.filename;
    return { type: 'file', file };
  },
  refusal: (part) => ({ type: 'refusal', refusal: part.text }),
  raw: (part) => {
    if (part.format === 'openai-chat') return part.value;
    throw new GatewayError(
      'unsupported_parameter',
      `A content part of type "${String(part.value.type ?? 'unknown')}" cannot be sent to this model. Leave it out or choose a model of the vendor it was made for.`,
      { param: 'messages' },
    );
  },
};
