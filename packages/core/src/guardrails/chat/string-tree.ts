import { isObject, type JsonValue } from '../../chat/json';
import { isBytes, isMediaField, isSealed, isSealing, readTextFile } from './unread-fields';
import { isKnownChoice, isKnownName } from './vocabulary';

/** A text of a JSON value. */
export interface FoundText {
  readonly text: string;
  /** True in an identifier, where random-looking text means nothing. */
  readonly isId: boolean;
  /** The base64-decoded text, which is listed as well. */
  readonly decoded?: string;
}

/** Strings judged as part of a longer text, by object and name. */
export class JudgedPieces {
  private readonly names = new Map<object, Set<string>>();

  add(holder: object, name: string): void {
    const names = this.names.get(holder) ?? new Set();
    this.names.set(holder, names.add(name));
  }

  has(holder: object, name: string): boolean {
    return this.names.get(holder)?.has(name) === true;
  }
}

export type Pieces = Pick<JudgedPieces, 'has'>;
export const NO_PIECES: Pieces = { has: () => false };

/** Fields of identifiers at vendors and programs. */
const IDS: ReadonlySet<string> = new Set([
  ...['id', 'call_id', 'tool_call_id', 'tool_use_id', 'item_id', 'response_id', 'previous_response_id', 'file_id'],
  // Media URLs: their signatures look random, and vendors need them.
  ...['url', 'image_url', 'audio_url', 'video_url', 'file_url', 'uri', 'fileUri', 'file_uri'],
  ...[
    'toolCallId',
    'fileId',
    'user',
    'user_id',
    'safety_identifier',
    'prompt_cache_key',
    'conversation',
    'container',
    'progressToken',
  ],
]);
/** Least number that may identify a person. */
const LEAST_NUMBER = 10_000_000;
/** Larger ones are written with an exponent. */
const MOST_NUMBER = 1e21;
/** Free-form objects of callers and tools: they hold no media and nothing of a vendor. */
const FREE: ReadonlySet<string> = new Set([
  ...['metadata', 'input', 'args', 'arguments', 'parameters', 'properties', 'response', 'structuredContent', 'json'],
]);

/** All texts in a value: field names, long numbers and text files, but neither media nor sealed data. */
export function textsIn(
  value: JsonValue | undefined,
  found: FoundText[] = [],
  name = '',
  pieces: Pieces = NO_PIECES,
): FoundText[] {
  gather(value, found, { name, isFree: FREE.has(name), pieces });
  return found;
}

/** Position of a value. */
interface Where {
  readonly name: string;
  /** True within free-form objects. */
  readonly isFree: boolean;
  readonly pieces: Pieces;
  /** The string is a piece; its base64 content is judged all the same. */
  readonly isPiece?: boolean;
}

function gather(value: JsonValue | undefined, found: FoundText[], where: Where): void {
  const { name, isFree, pieces } = where;
  if (typeof value === 'string') gatherString(value, found, where);
  else if (typeof value === 'number') {
    if (isLong(value)) found.push({ text: String(value), isId: IDS.has(name) });
  } else if (Array.isArray(value)) for (const one of value) gather(one, found, where);
  else if (value !== null && value !== undefined && typeof value === 'object') {
    for (const [key, one] of Object.entries(value)) {
      if (!isKnownName(key)) found.push({ text: key, isId: false });
      if (!isFree && isSealed(value, key)) continue;
      gather(one, found, {
        name: key,
        isFree: isFree || isFreeForm(key, one),
        pieces,
        isPiece: pieces.has(value, key),
      });
    }
  }
}

function gatherString(value: string, found: FoundText[], { name, isPiece }: Where): void {
  if (value === '' || isKnownChoice(name, value)) return;
  const file = readTextFile(value, name);
  if (file !== undefined) found.push({ text: file.text, isId: false });
  if (isPiece === true || isBytes(value, name)) return;
  const isId = IDS.has(name) || isSealing(name) || isMediaField(name);
  found.push({ text: value, isId, ...(file === undefined ? {} : { decoded: file.text }) });
}

/** Texts of adjacent blocks, for each list with two or more. Choices don't count: they have an index. */
export function textLists(
  value: JsonValue | undefined,
  found: (readonly string[])[] = [],
  pieces: Pieces = NO_PIECES,
): (readonly string[])[] {
  if (Array.isArray(value)) {
    const texts = value.flatMap((one) =>
      isObject(one) && typeof one.text === 'string' && one.index === undefined && !pieces.has(one, 'text')
        ? [one.text]
        : [],
    );
    if (texts.length > 1) found.push(texts);
    for (const one of value) textLists(one, found, pieces);
  } else if (isObject(value)) for (const one of Object.values(value)) textLists(one, found, pieces);
  return found;
}

/** `response` is a tool's, and in Responses the answer itself. */
const isFreeForm = (name: string, value: JsonValue): boolean =>
  FREE.has(name) && isObject(value) && !(name === 'response' && value.object === 'response');

/** The value with other texts in the place of those that have one; the very same where none has. */
export function replaceTexts<T extends JsonValue | undefined>(
  value: T,
  replacementOf: (text: string) => string | undefined,
  name = '',
  pieces: Pieces = NO_PIECES,
): T {
  return replaceIn(value, replacementOf, { name, isFree: FREE.has(name), pieces }) as T;
}

function replaceIn(
  value: JsonValue | undefined,
  replacementOf: (text: string) => string | undefined,
  where: Where,
): JsonValue | undefined {
  const { name, isFree, pieces } = where;
  if (typeof value === 'string') {
    if (isKnownChoice(name, value)) return value;
    // Clean base64 may decode to a text with a finding.
    const said = where.isPiece === true ? value : (replacementOf(value) ?? value);
    return said === value ? replaceInFile(value, replacementOf, name) : said;
  }
  if (typeof value === 'number') return isLong(value) ? (replacementOf(String(value)) ?? value) : value;
  if (Array.isArray(value)) {
    const items = value.map((one) => replaceIn(one, replacementOf, where) as JsonValue);
    return items.some((one, index) => one !== value[index]) ? items : value;
  }
  if (value === null || value === undefined || typeof value !== 'object') return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, one]) => {
    const written = isKnownName(key) ? key : (replacementOf(key) ?? key);
    const isLeft = !isFree && isSealed(value, key);
    const at = { name: key, isFree: isFree || isFreeForm(key, one), pieces, isPiece: pieces.has(value, key) };
    const replaced = isLeft ? one : (replaceIn(one, replacementOf, at) as JsonValue);
    changed ||= written !== key || replaced !== one;
    return [written, replaced] as const;
  });
  return changed ? Object.fromEntries(entries) : value;
}

function replaceInFile(value: string, replacementOf: (text: string) => string | undefined, name: string): string {
  const file = readTextFile(value, name);
  const written = file && replacementOf(file.text);
  return file === undefined || written === undefined || written === file.text ? value : file.write(written);
}

const isLong = (value: number): boolean => Math.abs(value) >= LEAST_NUMBER && Math.abs(value) < MOST_NUMBER;
