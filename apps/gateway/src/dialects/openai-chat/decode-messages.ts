import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart, ReasoningPart, ToolCall } from '@llm0/core/chat/request';
import { invalid, isObject, keepUnknown, kindOf } from '../read-fields';
import { decodeContent } from './decode-content';

/** The `messages` array → ours. Fields only this format understands are kept in `extra` under their path. */
export function decodeMessages(value: JsonValue | undefined, extra: JsonObject): ChatMessage[] {
  if (!Array.isArray(value)) throw invalid('messages', `"messages" must be an array, but is ${kindOf(value)}.`);
  if (value.length === 0) throw invalid('messages', '"messages" is empty. Send at least one message.');
  const messages: ChatMessage[] = [];
  for (const [i, item] of value.entries()) {
    const path = `messages[${i}]`;
    if (!isObject(item)) throw invalid(path, `"${path}" must be an object, but is ${kindOf(item)}.`);
    const decode = typeof item.role === 'string' ? ROLE_DECODERS.get(item.role) : undefined;
    if (decode === undefined) {
      throw invalid(
        `${path}.role`,
        `"${path}.role" must be one of ${[...ROLE_DECODERS.keys()].join(', ')}, but is ${shown(item.role)}.`,
      );
    }
    messages.push(decode({ item, path, extra, earlier: messages }));
  }
  return messages;
}

function shown(value: JsonValue | undefined): string {
  return typeof value === 'string' ? `"${value.slice(0, 40)}"` : kindOf(value);
}

interface MessageContext {
  readonly item: JsonObject;
  readonly path: string;
  readonly extra: JsonObject;
  readonly earlier: readonly ChatMessage[];
}

type RoleDecoder = (context: MessageContext) => ChatMessage;

const ROLE_DECODERS: ReadonlyMap<string, RoleDecoder> = new Map<string, RoleDecoder>([
  ['system', (context) => ({ role: 'system', ...decodePlain(context) })],
  ['developer', (context) => ({ role: 'developer', ...decodePlain(context) })],
  ['user', (context) => ({ role: 'user', ...decodePlain(context) })],
  ['assistant', decodeAssistant],
  ['tool', decodeTool],
  ['function', decodeFunctionResult],
]);

function decodePlain(context: MessageContext): { content: ContentPart[]; name?: string } {
  const content = requiredContent(context);
  keepUnknown(context.item, PLAIN_FIELDS, context.path, context.extra);
  const name = optionalText(context, 'name');
  return name === undefined ? { content } : { content, name };
}

const PLAIN_FIELDS: ReadonlySet<string> = new Set(['role', 'content', 'name']);
const TOOL_FIELDS: ReadonlySet<string> = new Set(['role', 'content', 'name', 'tool_call_id']);

function requiredContent({ item, path }: MessageContext): ContentPart[] {
  if (item.content === undefined || item.content === null) {
    throw invalid(`${path}.content`, `"${path}.content" is missing. Send a string or an array of parts.`);
  }
  return decodeContent(item.content, `${path}.content`);
}

function optionalText({ item, path }: MessageContext, name: string): string | undefined {
  const value = item[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw invalid(`${path}.${name}`, `"${path}.${name}" must be a string, but is ${kindOf(value)}.`);
}

function decodeTool(context: MessageContext): ChatMessage {
  const toolCallId = optionalText(context, 'tool_call_id');
  if (toolCallId === undefined) {
    const param = `${context.path}.tool_call_id`;
    throw invalid(param, `"${param}" is missing. Name the tool call that this message answers.`);
  }
  const content = requiredContent(context);
  keepUnknown(context.item, TOOL_FIELDS, context.path, context.extra);
  const name = optionalText(context, 'name');
  return { role: 'tool', toolCallId, content, ...(name === undefined ? {} : { name }) };
}

/** The older form of a tool result: answers the latest call of that name. */
function decodeFunctionResult(context: MessageContext): ChatMessage {
  const name = optionalText(context, 'name');
  if (name === undefined) {
    const param = `${context.path}.name`;
    throw invalid(param, `"${param}" is missing. Name the function that this message answers.`);
  }
  const calls = context.earlier.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  const toolCallId = calls.findLast((call) => call.name === name)?.id ?? legacyCallId(name);
  const content = context.item.content == null ? [] : decodeContent(context.item.content, `${context.path}.content`);
  keepUnknown(context.item, TOOL_FIELDS, context.path, context.extra);
  return { role: 'tool', toolCallId, content, name };
}

function legacyCallId(name: string): string {
  return `call_function_${name}`;
}

const ASSISTANT_FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'refusal',
  'tool_calls',
  'reasoning_content',
  'reasoning_details',
]);

function decodeAssistant(context: MessageContext): ChatMessage {
  const { item, path } = context;
  const content = item.content == null ? [] : decodeContent(item.content, `${path}.content`);
  const refusal = optionalText(context, 'refusal');
  if (refusal !== undefined) content.push({ type: 'refusal', text: refusal });
  const toolCalls = decodeToolCalls(context);
  const reasoning = decodeReasoning(context);
  const name = optionalText(context, 'name');
  let foreign = false;
  for (const field in item) if (!ASSISTANT_FIELDS.has(field) && item[field] != null) foreign = true;
  return {
    role: 'assistant',
    content,
    ...(name === undefined ? {} : { name }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(reasoning.length === 0 ? {} : { reasoning }),
    ...(foreign ? { raw: { format: 'openai-chat', value: item } } : {}),
  };
}

function decodeToolCalls({ item, path }: MessageContext): ToolCall[] {
  const calls: ToolCall[] = [];
  const list = item.tool_calls ?? [];
  if (!Array.isArray(list)) {
    throw invalid(`${path}.tool_calls`, `"${path}.tool_calls" must be an array, but is ${kindOf(list)}.`);
  }
  for (const [i, entry] of list.entries()) calls.push(decodeToolCall(entry, `${path}.tool_calls[${i}]`));
  if (isObject(item.function_call)) {
    const { name, arguments: text } = item.function_call;
    if (typeof name === 'string') {
      calls.push({ id: legacyCallId(name), name, arguments: typeof text === 'string' ? text : '' });
    }
  }
  return calls;
}

function decodeToolCall(entry: JsonValue, path: string): ToolCall {
  if (!isObject(entry)) throw invalid(path, `"${path}" must be an object, but is ${kindOf(entry)}.`);
  const custom = isObject(entry.custom) ? entry.custom : undefined;
  const body = custom ?? entry.function;
  if (typeof entry.id !== 'string') throw invalid(`${path}.id`, `"${path}.id" must be the id of the call.`);
  if (!isObject(body) || typeof body.name !== 'string') {
    throw invalid(`${path}.function`, `"${path}.function" must be an object with the function's name and arguments.`);
  }
  const text = (custom === undefined ? body.arguments : body.input) ?? '';
  if (typeof text !== 'string') {
    throw invalid(`${path}.function.arguments`, `"${path}.function.arguments" must be a string of JSON.`);
  }
  return {
    id: entry.id,
    name: body.name,
    arguments: text,
    ...(custom === undefined ? {} : { custom: true }),
    ...(typeof entry.signature === 'string' ? { signature: entry.signature } : {}),
  };
}

/** `reasoning_details` carries signed blocks; plain `reasoning_content` stands alone where there are none. */
function decodeReasoning({ item }: MessageContext): ReasoningPart[] {
  const details = Array.isArray(item.reasoning_details) ? item.reasoning_details.filter(isObject) : [];
  if (details.length > 0) {
    return details.map((detail) => ({
      ...(typeof detail.text === 'string' ? { text: detail.text } : {}),
      ...(typeof detail.signature === 'string' ? { signature: detail.signature } : {}),
      ...(typeof detail.data === 'string' ? { data: detail.data } : {}),
      ...(typeof detail.format === 'string' ? { format: detail.format } : {}),
    }));
  }
  const text = item.reasoning_content;
  return typeof text === 'string' && text !== '' ? [{ text }] : [];
}
