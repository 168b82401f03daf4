import { type JsonObject, type JsonValue, parseJson } from '@llm0/core/chat/json';

/** Received pieces of one block. */
export interface ReceivedBlock {
  /** The block at its start. */
  readonly block: JsonObject;
  readonly kind: string;
  readonly text: string;
  readonly thinking: string;
  readonly signature: string;
  /** JSON text. */
  readonly input: string;
  readonly citations: readonly JsonObject[];
}

/** The whole block as a plain answer would hold it. */
export function nativeBlock(received: ReceivedBlock): JsonObject {
  const { block, kind, citations } = received;
  if (kind === 'text') {
    return { ...block, text: received.text, ...(citations.length === 0 ? {} : { citations: [...citations] }) };
  }
  if (kind === 'thinking') return { ...block, thinking: received.thinking, signature: received.signature };
  return received.input === '' ? block : { ...block, input: readInput(received.input) };
}

/** Kinds of blocks in the order of our types. */
const PLAIN_ORDER: readonly (readonly [kinds: readonly string[], fields: ReadonlySet<string>])[] = [
  [['thinking', 'redacted_thinking'], new Set(['type', 'thinking', 'signature', 'data'])],
  [['text'], new Set(['type', 'text'])],
  [['tool_use'], new Set(['type', 'id', 'name', 'input'])],
];

/** True if our types hold all blocks: reasoning, then one text, then calls, without further fields. */
export function isPlainMessage(blocks: readonly JsonObject[]): boolean {
  let stage = 0;
  let texts = 0;
  for (const block of blocks) {
    const found = PLAIN_ORDER.findIndex(([kinds]) => kinds.includes(String(block.type)));
    if (found < stage || found === -1) return false;
    stage = found;
    texts += block.type === 'text' ? 1 : 0;
    const fields = PLAIN_ORDER[found]?.[1];
    for (const name in block) if (fields?.has(name) !== true && block[name] != null) return false;
  }
  return texts < 2;
}

/** A tool's input; text that is no JSON stays text. */
export function readInput(text: string): JsonValue {
  const value = parseJson(text);
  return value === undefined ? text : value;
}
