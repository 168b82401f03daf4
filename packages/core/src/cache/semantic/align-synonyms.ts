// Pairs from WordNet: words whose first sense is the same, and verbs with the noun of the same act.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalWord } from './canonical-word';
import type { TextFeatures } from './read-text';
import type { ContentWord, WordKind } from './word-reader';

const FILE = join(import.meta.dir, '../../../data/english-synonyms.txt');

let pairs: ReadonlySet<string> | undefined;

/** Read with the first near match; both orders of each pair, as stems. */
function loadPairs(): ReadonlySet<string> {
  const found = new Set<string>();
  const lines = readFileSync(FILE, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  for (const words of [...lines, ...MEASURES]) {
    const [a = '', b = ''] = words.map(canonicalWord);
    if (a === b) continue;
    found.add(`${a} ${b}`);
    found.add(`${b} ${a}`);
  }
  return found;
}

/** Beside those of WordNet: what the question words were made into. */
const MEASURES: readonly (readonly [string, string])[] = [
  ['duration', 'time'],
  ['size', 'large'],
  ['count-of', 'frequency'],
];

const PLAIN: ReadonlySet<WordKind> = new Set(['word', 'soft', 'light']);

/** `b` with each word that only it has replaced by its synonym that only `a` has. */
export function alignSynonyms(a: TextFeatures, b: TextFeatures): TextFeatures {
  const stemsOf = ({ words }: TextFeatures) => new Set(words.map(({ stem }) => stem));
  const [inA, inB] = [stemsOf(a), stemsOf(b)];
  const isFree = ({ stem, kind }: ContentWord, other: ReadonlySet<string>) => PLAIN.has(kind) && !other.has(stem);
  const onlyA = a.words.filter((word) => isFree(word, inB));
  const onlyB = b.words.filter((word) => isFree(word, inA));
  if (onlyA.length === 0 || onlyB.length === 0) return b;
  pairs ??= loadPairs();
  const renamed = new Map<string, string>();
  for (const { stem } of onlyB) {
    const match = onlyA.find(
      (word) => pairs?.has(`${word.stem} ${stem}`) && ![...renamed.values()].includes(word.stem),
    );
    if (match !== undefined) renamed.set(stem, match.stem);
  }
  if (renamed.size === 0) return b;
  const rename = (stem: string) => renamed.get(stem) ?? stem;
  return {
    ...b,
    words: b.words.map((word) => ({ ...word, stem: rename(word.stem) })),
    denied: b.denied.map(rename),
  };
}
