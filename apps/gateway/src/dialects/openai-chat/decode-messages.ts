import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart, ReasoningPart, ToolCall } from '@llm0/core/chat/request';
import { invalid, isObject, keepUnknown, mustBe, optionalText, present, saysMore, shown, textOf } from '../read-fields';
import { reasoningPart } from '../seal-reasoning';
import { decodeContent } from './decode-content';

/** The `messages` array → ours. Fields of this format only go to `extra` under their path. */
export function decodeMessages(value: JsonValue | undefined, extra: JsonObject): ChatMessage[] {
  if (!Array.isArray(value)) throw mustBe('messages', 'an array', value);
  if (value.length === 0) throw invalid('messages', '"messages" is empty. Send at least one message.');
  const messages: ChatMessage[] = [];
  for (let i = 0; i < value.length; i++) {
    const item = value[i];
    const text = decodeText(item);
    if (text !== undefined) {
      messages.push(text);
      continue;
    }
    const path = `messages[${i}]`;
    if (!isObject(item)) throw mustBe(path, 'an object', item);
    const decode = typeof item.role === 'string' ? ROLE_DECODERS.get(item.role) : undefined;
    if (decode === undefined) {
      const roles = [...ROLE_DECODERS.keys()].join(', ');
      throw invalid(`${path}.role`, `"${path}.role" must be one of ${roles}, but is ${shown(item.role)}.`);
    }
    messages.push(marked(decode({ item, path, extra, earlier: messages }), item));
  }
  return messages;
}

/** A message of a role and a text, as most are; undefined for others. */
function decodeText(item: JsonValue | undefined): ChatMessage | undefined {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined;
  const { role, content: text } = item;
  if (typeof text !== 'string') return undefined;
  if (role !== 'user' && role !== 'assistant' && role !== 'system' && role !== 'developer') return undefined;
  for (const name in item) if (name !== 'role' && name !== 'content') return undefined;
  return { role, content: [{ type: 'text', text }] };
}

/** A mark on a message equals one on its last part, or without parts on its last call. */
function marked(message: ChatMessage, { cache_control: mark }: JsonObject): ChatMessage {
  if (mark == null) return message;
  const last = message.content.findLastIndex(({ type }) => type === 'text' || type === 'image' || type === 'file');
  if (last !== -1) {
    const content = message.content.map((part, i) =>
      i === last ? ({ ...part, cacheControl: mark } as ContentPart) : part,
    );
    return { ...message, content };
  }
  if (message.role !== 'assistant' || message.toolCalls === undefined) return message;
  return {
    ...message,
    toolCalls: message.toolCalls.map((call, i, all) => (i === all.length - 1 ? { ...call, cacheControl: mark } : call)),
  };
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
  const name = optionalText(context.item, 'name', context.path);
  return name === undefined ? { content } : { content, name };
}

const PLAIN_FIELDS: ReadonlySet<string> = new Set(['role', 'content', 'name', 'cache_control']);
const TOOL_FIELDS: ReadonlySet<string> = new Set(['role', 'content', 'name', 'tool_call_id', 'cache_control']);

function requiredContent({ item, path }: MessageContext): ContentPart[] {
  if (item.content === undefined || item.content === null) {
    throw invalid(`${path}.content`, `"${path}.content" is missing. Send a string or an array of parts.`);
  }
  return decodeContent(item.content, `${path}.content`);
}

function decodeTool(context: MessageContext): ChatMessage {
  const toolCallId = optionalText(context.item, 'tool_call_id', context.path);
  if (toolCallId === undefined) {
    const param = `${context.path}.tool_call_id`;
    throw invalid(param, `"${param}" is missing. Name the tool call that this message answers.`);
  }
  const content = requiredContent(context);
  keepUnknown(context.item, TOOL_FIELDS, context.path, context.extra);
  return present({ role: 'tool', toolCallId, content, name: optionalText(context.item, 'name', context.path) });
}

/** The older form of a tool result: answers the latest call of that name. */
function decodeFunctionResult(context: MessageContext): ChatMessage {
  const name = optionalText(context.item, 'name', context.path);
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
  'cache_control',
]);

function decodeAssistant(context: MessageContext): ChatMessage {
  const { item, path } = context;
  const content = item.content == null ? [] : decodeContent(item.content, `${path}.content`);
  const refusal = optionalText(item, 'refusal', path);
  if (refusal !== undefined) content.push({ type: 'refusal', text: refusal });
  const toolCalls = decodeToolCalls(context);
  const reasoning = decodeReasoning(context);
  return present({
    role: 'assistant',
    content,
    name: optionalText(item, 'name', path),
    toolCalls: toolCalls.length === 0 ? undefined : toolCalls,
    reasoning: reasoning.length === 0 ? undefined : reasoning,
    raw: saysMore(item, ASSISTANT_FIELDS) ? ({ format: 'openai-chat', value: item } as const) : undefined,
  });
}

function decodeToolCalls({ item, path }: MessageContext): ToolCall[] {
  const calls: ToolCall[] = [];
  const list = item.tool_calls ?? [];
  if (!Array.isArray(list)) throw mustBe(`${path}.tool_calls`, 'an array', list);
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
  if (!isObject(entry)) throw mustBe(path, 'an object', entry);
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
  return present({
    id: entry.id,
    name: body.name,
    arguments: text,
    custom: custom === undefined ? undefined : true,
    signature: textOf(entry.signature),
  });
}

/** `reasoning_details` holds signed blocks; plain `reasoning_content` only counts without them. */
function decodeReasoning({ item }: MessageContext): ReasoningPart[] {
  const details = Array.isArray(item.reasoning_details) ? item.reasoning_details.filter(isObject) : [];
  if (details.length > 0) return details.map(reasoningPart);
  const text = item.reasoning_content;
  return typeof text === 'string' && text !== '' ? [{ text }] : [];
}
