// A body that goes on in its own format keeps the text it came in, but for what is changed: writing it anew takes longer than all else.
import type { JsonObject, JsonValue } from './json';
import type { SeenJson } from './json-bounds';

/** Members of objects as they stand in the text these were read from, by name. */
const TEXTS = new WeakMap<JsonObject, ReadonlyMap<string, string>>();

/** Shorter ones are written in no time. */
const WORTH_CHARACTERS = 32 * 1024;
const NAME = /\s*("(?:[^"\\]|\\.)*")\s*:/y;

/**
 * Remembers how the members of an object are written. Not where a name stands twice in one: others may read the first of them,
 * and this gateway judges the last.
 */
export function noteMembers(value: JsonValue, text: string, { names, cuts }: SeenJson): void {
  if (text.length < WORTH_CHARACTERS || value === null || typeof value !== 'object' || Array.isArray(value)) return;
  if (countNames(value) !== names) return;
  const members = new Map<string, string>();
  let from = text.indexOf('{') + 1;
  for (const cut of cuts) {
    NAME.lastIndex = from;
    const name = NAME.exec(text)?.[1];
    if (name === undefined) return;
    members.set(JSON.parse(name) as string, text.slice(from, cut));
    from = cut + 1;
  }
  TEXTS.set(value, members);
}

/** JSON text of `body`, whose members may be those of `original`. */
export function writeMembers(body: JsonObject, original: JsonObject | undefined): string {
  const members = original && TEXTS.get(original);
  if (original === undefined || members === undefined) return JSON.stringify(body);
  const parts: string[] = [];
  for (const name of Object.keys(body)) {
    const value = body[name];
    if (value === undefined) continue;
    const text = value === original[name] ? members.get(name) : undefined;
    parts.push(text ?? `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  }
  return `{${parts.join(',')}}`;
}

function countNames(value: JsonValue): number {
  if (value === null || typeof value !== 'object') return 0;
  let names = 0;
  if (Array.isArray(value)) for (const item of value) names += countNames(item);
  else for (const name of Object.keys(value)) names += 1 + countNames(value[name] as JsonValue);
  return names;
}
