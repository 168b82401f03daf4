import type { JsonValue } from './json';
import { JsonLook, UNBOUNDED } from './json-bounds';

/**
 * True if a JSON text has duplicate names, of which only the last field is parsed. Each name has one colon outside of
 * strings.
 */
export async function hasLostNames(text: string, value: JsonValue): Promise<boolean> {
  const look = new JsonLook(UNBOUNDED);
  const excess = await look.pushInSlices(text);
  return excess !== undefined || look.names !== namesIn(value);
}

function namesIn(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const one of Array.isArray(value) ? value : Object.values(value)) count += namesIn(one);
  return count;
}
