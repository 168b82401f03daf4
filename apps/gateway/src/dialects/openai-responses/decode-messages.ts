import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatMessage, ContentPart, ReasoningPart, ToolCall } from '@llm0/core/chat/request';
import {
  invalid,
  isObject,
  keepUnknown,
  mustBe,
  optionalText,
  present,
  requiredText,
  shown,
  textOf,
} from '../read-fields';
import { reasoningPart, unsealReasoning } from '../seal-reasoning';
import { decodeContent } from './decode-content';
import { joinName } from './namespaces';

/** Reasoning that only the format's own vendor can open. */
const SEALED_FORMAT = 'openai-responses-v1';

/**
 * `input` (text or items) → messages: merges an assistant's reasoning, text and calls into one turn. Unknown items stay
 * raw; unknown fields go to `extra` under their path.
 */
export function decodeMessages(value: JsonValue | undefined, extra: JsonObject): ChatMessage[] {
  if (typeof value === 'string') return [{ role: 'user', content: [{ type: 'text', text: value }] }];
  if (!Array.isArray(value)) throw mustBe('input', 'a string or an array of items', value);
  const builder = new MessageBuilder();
  for (const [i, item] of value.entries()) {
    const path = `input[${i}]`;
    if (!isObject(item)) throw mustBe(path, 'an object', item);
    const type = item.type ?? 'message';
    if (typeof type !== 'string') throw invalid(`${path}.type`, `"${path}.type" must say what the item is.`);
    const decode = ITEM_DECODERS.get(type) ?? decodeForeign;
    decode({ item, path, extra, builder });
  }
  return builder.messages;
}

type AssistantTurn = {
  readonly role: 'assistant';
  readonly content: ContentPart[];
  toolCalls?: ToolCall[];
  reasoning?: ReasoningPart[];
};

/** Collects the items of one assistant turn: calls must be adjacent, before their results. */
class MessageBuilder {
  readonly messages: ChatMessage[] = [];
  private turn: AssistantTurn | undefined;

  add(message: ChatMessage): void {
    this.turn = undefined;
    this.messages.push(message);
  }

  /** Text after text, or reasoning after reasoning, begins another turn; content after a call belongs to it. */
  addText(content: readonly ContentPart[]): void {
    this.openTurn(true).content.push(...content);
  }

  addReasoning(parts: readonly ReasoningPart[]): void {
    const turn = this.openTurn(true);
    turn.reasoning = [...(turn.reasoning ?? []), ...parts];
  }

  addCall(call: ToolCall): void {
    const turn = this.openTurn(false);
    turn.toolCalls = [...(turn.toolCalls ?? []), call];
  }

  private openTurn(afterWordsAnother: boolean): AssistantTurn {
    const isOver = afterWordsAnother && this.turn?.toolCalls === undefined && (this.turn?.content.length ?? 0) > 0;
    if (this.turn === undefined || isOver) {
      this.turn = { role: 'assistant', content: [] };
      this.messages.push(this.turn);
    }
    return this.turn;
  }
}

interface ItemContext {
  readonly item: JsonObject;
  readonly path: string;
  readonly extra: JsonObject;
  readonly builder: MessageBuilder;
}

const ITEM_DECODERS: ReadonlyMap<string, (context: ItemContext) => void> = new Map([
  ['message', decodeMessage],
  ['function_call', (context) => decodeCall(context, 'arguments')],
  ['custom_tool_call', (context) => decodeCall(context, 'input')],
  ['function_call_output', decodeCallOutput],
  ['custom_tool_call_output', decodeCallOutput],
  ['reasoning', decodeReasoning],
]);

const ROLES = ['user', 'system', 'developer', 'assistant'] as const;
/** Common fields of items. */
const ITEM_FIELDS = ['type', 'id', 'status'] as const;
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([...ITEM_FIELDS, 'role', 'content']);
const CALL_FIELDS: ReadonlySet<string> = new Set([
  ...ITEM_FIELDS,
  'call_id',
  'name',
  'namespace',
  'arguments',
  'input',
  'signature',
]);
const OUTPUT_FIELDS: ReadonlySet<string> = new Set([...ITEM_FIELDS, 'call_id', 'output']);

function decodeMessage({ item, path, extra, builder }: ItemContext): void {
  const role = ROLES.find((one) => one === item.role);
  if (role === undefined) {
    const roles = ROLES.join(', ');
    throw invalid(`${path}.role`, `"${path}.role" must be one of ${roles}, but is ${shown(item.role)}.`);
  }
  const content = decodeContent(item.content, `${path}.content`);
  keepUnknown(item, MESSAGE_FIELDS, path, extra);
  if (role === 'assistant') builder.addText(content);
  else builder.add({ role, content });
}

function decodeCall({ item, path, extra, builder }: ItemContext, field: 'arguments' | 'input'): void {
  const text = optionalText(item, field, path) ?? '';
  const call: ToolCall = present({
    id: nonEmpty(item, 'call_id', path),
    name: joinName({ name: nonEmpty(item, 'name', path), namespace: textOf(item.namespace) }),
    arguments: text,
    custom: field === 'input' ? true : undefined,
    signature: textOf(item.signature),
  });
  keepUnknown(item, CALL_FIELDS, path, extra);
  builder.addCall(call);
}

function decodeCallOutput({ item, path, extra, builder }: ItemContext): void {
  const toolCallId = nonEmpty(item, 'call_id', path);
  const content = decodeContent(item.output, `${path}.output`);
  keepUnknown(item, OUTPUT_FIELDS, path, extra);
  builder.add({ role: 'tool', toolCallId, content });
}

/** Other vendors' reasoning returns sealed by this gateway; the format's own is opaque except to its vendor. */
function decodeReasoning({ item, builder }: ItemContext): void {
  const sealed = textOf(item.encrypted_content);
  const opened = sealed === undefined ? undefined : unsealReasoning(sealed);
  if (Array.isArray(opened)) {
    builder.addReasoning(opened.filter(isObject).map(reasoningPart));
    return;
  }
  const text = [...textsOf(item.summary), ...textsOf(item.content)].join('\n\n');
  if (text === '' && sealed === undefined) return;
  const format = sealed === undefined ? undefined : SEALED_FORMAT;
  builder.addReasoning([present({ text: text === '' ? undefined : text, data: sealed, format })]);
}

function textsOf(value: JsonValue | undefined): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []));
}

/** Keeps an unknown item whole for the format's own vendor. */
function decodeForeign({ item, builder }: ItemContext): void {
  const content: ContentPart[] = [{ type: 'raw', format: 'openai-responses', value: item }];
  const type = String(item.type);
  if (type.endsWith('_output') || type === 'mcp_approval_response') builder.add({ role: 'user', content });
  else builder.addText(content);
}

function nonEmpty(item: JsonObject, name: string, path: string): string {
  const text = requiredText(item, name, path);
  if (text !== '') return text;
  throw mustBe(`${path}.${name}`, 'a string', text);
}
