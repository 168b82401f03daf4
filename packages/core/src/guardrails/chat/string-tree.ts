import type { JsonValue } from '../../chat/json';
import { isKnownChoice, isKnownName } from './vocabulary';

/** A text of a JSON value. */
export interface FoundText {
  readonly text: string;
  /** It stands where identifiers do: that it looks like chance says nothing. */
  readonly isId: boolean;
}

/** Where vendors and programs keep identifiers. */
const IDS: ReadonlySet<string> = new Set([
  ...['id', 'call_id', 'tool_call_id', 'tool_use_id', 'item_id', 'response_id', 'previous_response_id', 'file_id'],
  // Of media: what signs an address looks like chance, and vendors need it.
  ...['url', 'image_url', 'audio_url', 'video_url', 'file_url', 'uri', 'fileUri', 'file_uri'],
  ...['toolCallId', 'fileId', 'user', 'user_id', 'safety_identifier', 'prompt_cache_key', 'conversation', 'container'],
]);
/** What only the vendor that wrote it can read: changed, it would be refused. */
const SEALED: ReadonlySet<string> = new Set([
  ...['signature', 'thought_signature', 'thoughtSignature', 'encrypted_content', 'encryptedContent', 'encrypted_index'],
]);
/** Media, in base64. */
const MEDIA: ReadonlySet<string> = new Set(['data', 'dataBase64', 'file_data', 'b64_json', 'bytes', 'blob']);
const LEAST_MEDIA = 256;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;
/** Numbers that may be somebody's. */
const LEAST_NUMBER = 10_000_000;
/** Bytes that are no text. */
const DATA_URL = /^data:(?!text\/|application\/(?:json|xml))/i;

/** All texts in a value, names of fields and long numbers too; neither media nor what is sealed. */
export function textsIn(value: JsonValue | undefined, found: FoundText[] = [], name = ''): FoundText[] {
  if (typeof value === 'string') {
    if (!isUnread(value, name)) found.push({ text: value, isId: IDS.has(name) || MEDIA.has(name) });
  } else if (typeof value === 'number') {
    if (isLong(value)) found.push({ text: String(value), isId: IDS.has(name) });
  } else if (Array.isArray(value)) for (const one of value) textsIn(one, found, name);
  else if (value !== null && value !== undefined && typeof value === 'object') {
    for (const [key, one] of Object.entries(value)) {
      if (!isKnownName(key)) found.push({ text: key, isId: false });
      textsIn(one, found, key);
    }
  }
  return found;
}

/** The value with other texts in the place of those that have one; the very same where none has. */
export function replaceTexts<T extends JsonValue | undefined>(
  value: T,
  replacementOf: (text: string) => string | undefined,
  name = '',
): T {
  return replaceIn(value, replacementOf, name) as T;
}

function replaceIn(
  value: JsonValue | undefined,
  replacementOf: (text: string) => string | undefined,
  name: string,
): JsonValue | undefined {
  if (typeof value === 'string') {
    return SEALED.has(name) || isKnownChoice(name, value) ? value : (replacementOf(value) ?? value);
  }
  if (typeof value === 'number') return isLong(value) ? (replacementOf(String(value)) ?? value) : value;
  if (Array.isArray(value)) {
    const items = value.map((one) => replaceIn(one, replacementOf, name) as JsonValue);
    return items.some((one, index) => one !== value[index]) ? items : value;
  }
  if (value === null || value === undefined || typeof value !== 'object') return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, one]) => {
    const written = isKnownName(key) ? key : (replacementOf(key) ?? key);
    const replaced = replaceIn(one, replacementOf, key) as JsonValue;
    changed ||= written !== key || replaced !== one;
    return [written, replaced] as const;
  });
  return changed ? Object.fromEntries(entries) : value;
}

const isLong = (value: number): boolean => Number.isSafeInteger(value) && Math.abs(value) >= LEAST_NUMBER;

function isUnread(text: string, name: string): boolean {
  if (text === '' || SEALED.has(name) || isKnownChoice(name, text) || DATA_URL.test(text)) return true;
  return MEDIA.has(name) && text.length >= LEAST_MEDIA && BASE64.test(text);
}
