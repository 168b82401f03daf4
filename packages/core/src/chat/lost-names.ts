import type { JsonValue } from './json';
import { JsonLook, UNBOUNDED } from './json-bounds';

/**
 * True where a JSON text has other names than `value`, which was read of it: of a name that stands in one object twice, in
 * whatever spelling, only the last field is read. Each name has one colon outside of strings.
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
