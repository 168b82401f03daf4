import { IRREGULAR, SYNONYMS } from '../english/word-lists';
import { stemWord } from './stem-word';

const bare = (word: string) => stemWord(IRREGULAR.get(word) ?? word);

const CANONICAL: ReadonlyMap<string, string> = new Map(
  SYNONYMS.flatMap(([first = '', ...others]) => others.map((word) => [bare(word), bare(first)] as const)),
);

/** A cache of repeated words, cleared as a whole, so that odd ones can't fill the memory. */
const seen = new Map<string, string>();
const MAX_SEEN = 20_000;

/** The stem that a word in lower case shares with its inflections and synonyms. */
export function canonicalWord(word: string): string {
  const known = seen.get(word);
  if (known !== undefined) return known;
  const stem = bare(word);
  const first = CANONICAL.get(stem) ?? stem;
  // A word may be canonical in one line and a synonym in another.
  const canonical = CANONICAL.get(first) ?? first;
  if (seen.size >= MAX_SEEN) seen.clear();
  seen.set(word, canonical);
  return canonical;
}
