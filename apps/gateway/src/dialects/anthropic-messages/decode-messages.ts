import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart, ReasoningPart, ToolCall } from '@llm0/core/chat/request';
import { REASONING_FORMAT } from '@llm0/providers/anthropic/wire';
import { isPlainMessage } from '@llm0/providers/claude/native-blocks';
import { invalid, isObject, keepUnknown, mustBe, requiredText, shown } from '../read-fields';
import { isSealed, reasoningPart, unsealReasoning } from '../seal-reasoning';
import { decodeBlock, decodeContent, readBlocks } from './decode-content';

export interface DecodedMessages {
  readonly messages: ChatMessage[];
  /** Turns without other vendors' blocks, which this vendor would refuse. Absent if unchanged. */
  readonly cleaned?: JsonValue[];
}

/** `system` and `messages` → ours. Fields of this format only go to `extra` under their path. */
export function decodeMessages(body: JsonObject, extra: JsonObject): DecodedMessages {
  const { messages: value } = body;
  if (!Array.isArray(value)) throw mustBe('messages', 'an array', value);
  if (value.length === 0) throw invalid('messages', '"messages" is empty. Send at least one message.');
  const messages = decodeSystem(body.system, extra);
  const cleaned: JsonValue[] = [];
  let isClean = true;
  for (const [i, item] of value.entries()) {
    const path = `messages[${i}]`;
    if (!isObject(item)) throw mustBe(path, 'an object', item);
    keepUnknown(item, MESSAGE_FIELDS, path, extra);
    if (item.role === 'assistant') {
      const { message, kept } = decodeAssistant(item, path, extra);
      messages.push(message);
      isClean &&= kept === item;
      if (kept !== undefined) cleaned.push(kept);
      continue;
    }
    cleaned.push(item);
    if (item.role === 'user') messages.push(...decodeUser(item, path, extra));
    else if (item.role === 'system') messages.push(...decodeSystem(item.content, extra, `${path}.content`));
    else throw invalid(`${path}.role`, `"${path}.role" must be "user" or "assistant", but is ${shown(item.role)}.`);
  }
  return isClean ? { messages } : { messages, cleaned };
}

const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['role', 'content']);

function decodeSystem(value: JsonValue | undefined, extra: JsonObject, path = 'system'): ChatMessage[] {
  if (value === undefined || value === null || value === '') return [];
  const content = decodeContent(value, path, extra);
  return content.length === 0 ? [] : [{ role: 'system', content }];
}

/** Tool results become messages before the rest of the turn. */
function decodeUser({ content }: JsonObject, path: string, extra: JsonObject): ChatMessage[] {
  if (typeof content === 'string') return [{ role: 'user', content: [{ type: 'text', text: content }] }];
  const results: ChatMessage[] = [];
  const parts: ContentPart[] = [];
  for (const [i, block] of readBlocks(content, `${path}.content`).entries()) {
    const blockPath = `${path}.content[${i}]`;
    if (block.type === 'tool_result') results.push(decodeResult(block, blockPath, extra));
    else parts.push(decodeBlock(block, blockPath, extra));
  }
  return results.length > 0 && parts.length === 0 ? results : [...results, { role: 'user', content: parts }];
}

const RESULT_FIELDS: ReadonlySet<string> = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control']);

function decodeResult(block: JsonObject, path: string, extra: JsonObject): ChatMessage {
  const toolCallId = requiredText(block, 'tool_use_id', path);
  const content = block.content == null ? [] : decodeContent(block.content, `${path}.content`, extra);
  keepUnknown(block, RESULT_FIELDS, path, extra);
  // A mark on the result means the same as one on its last part.
  const last = content.at(-1);
  if (block.cache_control != null && last !== undefined && 'type' in last && last.type !== 'raw') {
    content[content.length - 1] = { ...last, cacheControl: block.cache_control } as ContentPart;
  }
  return { role: 'tool', toolCallId, content, ...(block.is_error === true ? { isError: true } : {}) };
}

interface AssistantTurn {
  readonly content: ContentPart[];
  readonly toolCalls: ToolCall[];
  readonly reasoning: ReasoningPart[];
  /** The blocks this vendor knows as its own. */
  readonly own: JsonObject[];
  changed: boolean;
}

/** `kept`: the turn for this vendor; undefined if nothing remains. */
function decodeAssistant(
  item: JsonObject,
  path: string,
  extra: JsonObject,
): { readonly message: ChatMessage; readonly kept: JsonObject | undefined } {
  if (typeof item.content === 'string') {
    return { message: { role: 'assistant', content: [{ type: 'text', text: item.content }] }, kept: item };
  }
  const turn: AssistantTurn = { content: [], toolCalls: [], reasoning: [], own: [], changed: false };
  for (const [i, block] of readBlocks(item.content, `${path}.content`).entries()) {
    decodeAssistantBlock(block, turn, { path: `${path}.content[${i}]`, extra });
  }
  const { content, toolCalls, reasoning, own } = turn;
  const message: ChatMessage = {
    role: 'assistant',
    content,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(reasoning.length === 0 ? {} : { reasoning }),
    ...(isInOrder(own) ? {} : { raw: { format: 'anthropic-messages', value: { role: 'assistant', content: own } } }),
  };
  if (!turn.changed) return { message, kept: item };
  return { message, kept: own.length === 0 ? undefined : { ...item, content: own } };
}

/** Several texts in a row, their marks and their sources are no order of their own. */
function isInOrder(blocks: readonly JsonObject[]): boolean {
  const kinds = blocks.filter((block, i) => block.type !== 'text' || blocks[i - 1]?.type !== 'text');
  return isPlainMessage(kinds.map(({ type }) => ({ type: type ?? null })));
}

interface BlockPlace {
  readonly path: string;
  readonly extra: JsonObject;
}

function decodeAssistantBlock(block: JsonObject, turn: AssistantTurn, place: BlockPlace): void {
  const decode = ASSISTANT_DECODERS.get(String(block.type));
  const kept = decode === undefined ? block : decode(block, turn, place);
  if (decode === undefined) turn.content.push(decodeBlock(block, place.path, place.extra));
  if (kept !== undefined) turn.own.push(kept);
  turn.changed ||= kept !== block;
}

/** Adds the block to the turn; gives it back as this vendor may see it, or undefined. */
type AssistantDecoder = (block: JsonObject, turn: AssistantTurn, place: BlockPlace) => JsonObject | undefined;

const CALL_FIELDS: ReadonlySet<string> = new Set(['type', 'id', 'name', 'input', 'cache_control', 'signature']);

const ASSISTANT_DECODERS: ReadonlyMap<string, AssistantDecoder> = new Map<string, AssistantDecoder>([
  ['thinking', decodeThinking],
  ['redacted_thinking', decodeRedacted],
  ['tool_use', decodeCall],
]);

function decodeThinking(block: JsonObject, turn: AssistantTurn, { path }: BlockPlace): JsonObject | undefined {
  const text = requiredText(block, 'thinking', path);
  const { signature } = block;
  if (isSealed(signature)) {
    turn.reasoning.push({ ...reasoningPart(unsealReasoning(signature)), text });
    return undefined;
  }
  if (typeof signature !== 'string' || signature === '') {
    turn.reasoning.push({ text });
    return undefined;
  }
  turn.reasoning.push({ text, signature, format: REASONING_FORMAT });
  return block;
}

function decodeRedacted(block: JsonObject, turn: AssistantTurn, { path }: BlockPlace): JsonObject | undefined {
  const data = requiredText(block, 'data', path);
  if (isSealed(data)) {
    turn.reasoning.push(reasoningPart(unsealReasoning(data)));
    return undefined;
  }
  turn.reasoning.push({ data, format: REASONING_FORMAT });
  return block;
}

function decodeCall(block: JsonObject, turn: AssistantTurn, { path, extra }: BlockPlace): JsonObject {
  const { input, signature } = block;
  if (input !== undefined && !isObject(input)) throw mustBe(`${path}.input`, 'an object', input);
  keepUnknown(block, CALL_FIELDS, path, extra);
  turn.toolCalls.push({
    id: requiredText(block, 'id', path),
    name: requiredText(block, 'name', path),
    arguments: JSON.stringify(input ?? {}),
    ...(typeof signature === 'string' ? { signature } : {}),
  });
  if (signature === undefined) return block;
  const { signature: _foreign, ...own } = block;
  return own;
}
