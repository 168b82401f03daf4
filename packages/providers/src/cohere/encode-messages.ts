import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart, ToolCall } from '@llm0/core/chat/request';
import {
  encodeTurns,
  encodeUnmarked,
  type MessageOf,
  type PartEncoders,
  refuseAudio,
  refuseEarlierAudio,
  refuseRaw,
  type Turn,
} from '../translation/encode-turns';
import { readArguments } from '../translation/read-arguments';
import type { DroppedParameters } from '../translation/refuse-parameter';
import type { ToolNames } from '../translation/vendor-names';

export interface MessageContext {
  readonly names: ToolNames;
  readonly dropped: DroppedParameters;
}

/** Our messages as the vendor wants them: what the system says comes first, results have messages of their own. */
export function encodeMessages(messages: readonly ChatMessage[], context: MessageContext): JsonObject[] {
  const { system, messages: turns } = encodeTurns(messages, {
    dropped: context.dropped,
    isResult,
    encodeAssistant: (message) => encodeAssistant(message, context),
    encodeResult: (message) => encodeResult(message, context),
    encodeParts: (parts) => encodeParts(parts, context),
  });
  // System messages alone are the model's input.
  if (turns.length === 0) return [{ role: 'user', content: system }];
  const said = turns.flatMap(encodeTurn);
  return system.length === 0 ? said : [{ role: 'system', content: system }, ...said];
}

const isResult = ({ role }: JsonObject) => role === 'tool';
const isCall = ({ type }: JsonObject) => type === 'function';

function encodeTurn({ role, content }: Turn): JsonObject[] {
  if (role === 'user') {
    const said = content.filter((block) => !isResult(block));
    return [...content.filter(isResult), ...(said.length === 0 ? [] : [{ role, content: said }])];
  }
  const calls = content.filter(isCall);
  const texts = content.filter((block) => !isCall(block));
  if (calls.length === 0) return [{ role, content: texts }];
  // What the model says beside its calls is its plan for them.
  const plan = texts.map(({ text }) => text).join('\n');
  return [{ role, ...(plan === '' ? {} : { tool_plan: plan }), tool_calls: calls }];
}

function encodeAssistant(message: MessageOf<'assistant'>, context: MessageContext): JsonObject[] {
  refuseEarlierAudio(message, context);
  const calls = (message.toolCalls ?? []).map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: context.names.toVendor(call.name), arguments: argumentsOf(call) },
  }));
  return [...encodeParts(message.content, context), ...calls];
}

/** As the model wrote them, where that is JSON. */
function argumentsOf(call: ToolCall): string {
  const value = readArguments(call);
  return call.custom === true || call.arguments.trim() === '' ? JSON.stringify(value) : call.arguments;
}

const FAILED = 'Error: ';

/** Results are text here: images follow as the user's. */
function encodeResult(message: MessageOf<'tool'>, context: MessageContext): JsonObject[] {
  const parts = encodeParts(message.content, context);
  const texts = parts.filter(({ type }) => type === 'text');
  // The format cannot mark a failure but in words.
  if (message.isError === true) texts[0] = { type: 'text', text: `${FAILED}${String(texts[0]?.text ?? '')}` };
  return [
    { role: 'tool', tool_call_id: message.toolCallId, content: texts.length === 0 ? '' : texts },
    ...parts.filter(({ type }) => type !== 'text'),
  ];
}

const encodeParts = (parts: readonly ContentPart[], context: MessageContext) =>
  encodeUnmarked(parts, PART_ENCODERS, context);

const PART_ENCODERS: PartEncoders<MessageContext> = {
  text: ({ text }) => textBlocks(text),
  refusal: ({ text }) => textBlocks(text),
  image: ({ url, detail }) => [{ type: 'image_url', image_url: { url, ...(detail === undefined ? {} : { detail }) } }],
  audio: refuseAudio,
  file: (_part, { dropped }) => {
    dropped.refuse('messages', 'holds a file, which is not supported by');
    return [];
  },
  raw: refuseRaw,
};

/** The vendor refuses empty ones. */
function textBlocks(text: string): JsonObject[] {
  return text === '' ? [] : [{ type: 'text', text }];
}
