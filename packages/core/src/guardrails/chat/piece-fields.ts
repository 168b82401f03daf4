import type { ChatEvent } from '../../chat/event';
import { isObject, type JsonObject, type JsonValue } from '../../chat/json';
import type { TextKind } from '../piece-window';
import type { GuardrailPart } from '../policy';
import type { RequestGuard } from '../request-guard';
import { guardName, guardValue } from './guard-response';
import type { GuardedTexts } from './guard-texts';
import { isKnownChoice } from './vocabulary';

/** A field of an event whose texts are pieces of one. */
export interface PieceField {
  /** Identifies the text of these pieces. */
  readonly key: string;
  readonly text: string;
  /** The field's value with another text in its place. */
  readonly withText: (text: string) => JsonValue;
}

/** Fields of vendors that arrive in pieces. */
export const PIECES: Readonly<
  Record<string, { readonly member: string; readonly part: GuardrailPart; readonly kind: TextKind }>
> = {
  function_call: { member: 'arguments', part: 'tool_arguments', kind: 'json' },
  audio: { member: 'transcript', part: 'assistant', kind: 'plain' },
};

/** Fields that describe their parent or belong to the vendor; every piece repeats them. */
const WHOLE: ReadonlySet<string> = new Set([
  ...['type', 'id', 'format', 'index', 'role', 'status', 'name', 'call_id', 'item_id', 'mime_type', 'mimeType'],
  ...['signature', 'thought_signature', 'thoughtSignature', 'encrypted_content', 'data', 'url'],
]);
const NAMING: ReadonlySet<string> = new Set(['type', 'id', 'format', 'index']);

/** A field with judged names and descriptions; each piece repeats them. */
export async function withJudgedNames(guard: RequestGuard, texts: GuardedTexts, value: JsonValue): Promise<JsonValue> {
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const item of value) items.push(isObject(item) ? await withJudgedNames(guard, texts, item) : item);
    return items;
  }
  if (!isObject(value)) return value;
  const entries: [string, JsonValue][] = [];
  for (const [name, one] of Object.entries(value)) {
    const said = NAMING.has(name) ? (await guardValue(guard, texts, { [name]: one }))[name] : one;
    entries.push([await guardName(guard, texts, name), said ?? null]);
  }
  return Object.fromEntries(entries);
}

/** The texts of a block of reasoning that may be pieces. One with its signature is whole, and so are those ahead of it. */
export function piecesOfDetail(detail: JsonObject): {
  readonly fields: readonly PieceField[];
  readonly isEnd: boolean;
} {
  const { signature } = detail;
  const key = `detail ${String(detail.index ?? '')}`;
  return { fields: piecesOfObject(detail, key), isEnd: typeof signature === 'string' && signature !== '' };
}

/** Texts of an unknown field that accompanies each piece of a message. */
export function piecesOfExtra({ scope, name, value }: Extract<ChatEvent, { type: 'extra' }>): readonly PieceField[] {
  if (scope !== 'message' || WHOLE.has(name)) return [];
  const key = `extra ${name}`;
  if (typeof value === 'string') return [{ key, text: value, withText: (text) => text }];
  if (isObject(value)) return piecesOfObject(value, key);
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    if (!isObject(item) || typeof item.index !== 'number') return [];
    const fields = piecesOfObject(item, `${key} ${item.index}`);
    return fields.map(({ withText, ...field }) => ({ ...field, withText: (text: string) => [withText(text)] }));
  });
}

function piecesOfObject(object: JsonObject, key: string): readonly PieceField[] {
  const naming: Record<string, JsonValue> = {};
  for (const name of NAMING) if (object[name] !== undefined) naming[name] = object[name];
  return Object.entries(object).flatMap(([name, text]) =>
    typeof text !== 'string' || WHOLE.has(name) || isKnownChoice(name, text)
      ? []
      : [{ key: `${key} ${name}`, text, withText: (said: string) => ({ ...naming, [name]: said }) }],
  );
}

/** The value with its judged pieces, by key. */
export function withPieces(value: JsonValue, key: string, passed: ReadonlyMap<string, string>): JsonValue {
  if (typeof value === 'string') return passed.get(key) ?? value;
  if (Array.isArray(value)) {
    return value.map((item) =>
      isObject(item) && typeof item.index === 'number' ? withPieces(item, `${key} ${item.index}`, passed) : item,
    );
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, passed.get(`${key} ${name}`) ?? text]));
}
