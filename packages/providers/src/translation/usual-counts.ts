import type { JsonValue } from '@llm0/core/chat/json';
import { MOST_TOKENS } from './read-json';

/** A count, an object of counts, a list with a count for each modality, or the one modality that is usual. */
export type CountKind = CountNames | 'count' | 'modalities' | 'TEXT';
export type CountNames = ReadonlyMap<string, CountKind>;

export function countNames(...names: string[]): CountNames {
  return new Map(names.map((name) => [name, 'count']));
}

/** True if nothing but valid counts of these names is in it, at any depth: then no other reading is possible. */
export function holdsOnly(counts: JsonValue | undefined, names: CountNames): boolean {
  if (typeof counts !== 'object' || Array.isArray(counts)) return false;
  for (const name in counts) {
    const value = counts[name];
    const inner = names.get(name);
    if (inner === undefined) return false;
    if (inner === 'count') {
      if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MOST_TOKENS) return false;
    } else if (inner === 'TEXT') {
      if (value !== inner) return false;
    } else if (inner === 'modalities' ? !countsTexts(value) : !holdsOnly(value, inner)) return false;
  }
  return true;
}

const MODALITY: CountNames = new Map<string, CountKind>([
  ['modality', 'TEXT'],
  ['tokenCount', 'count'],
]);

function countsTexts(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value)) return false;
  for (const item of value) if (!holdsOnly(item, MODALITY)) return false;
  return true;
}
