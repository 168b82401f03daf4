import { readAlike } from '../english/word-lists';
import { canonicalWord } from './canonical-word';
import type { TextFeatures } from './read-text';
import { isDerived } from './word-derivation';
import type { ContentWord, WordKind } from './word-reader';

let pairs: ReadonlySet<string> | undefined;

/** Made with the first near match; both orders of each pair, as stems. */
function makePairs(): ReadonlySet<string> {
  const found = new Set<string>();
  for (const words of readAlike()) {
    const stems = words.map(canonicalWord);
    for (const a of stems) for (const b of stems) if (a !== b) found.add(`${a} ${b}`);
  }
  return found;
}

const PLAIN: ReadonlySet<WordKind> = new Set(['word', 'soft', 'light']);
/** Texts with more words of their own fail anyway; also bounds the work. */
const MAX_FREE = 40;

/** `b` with each word that only it has replaced by its synonym that only `a` has. */
export function alignSynonyms(a: TextFeatures, b: TextFeatures): TextFeatures {
  const [freeA, freeB] = [freeWords(a, b), freeWords(b, a)];
  if (freeA.length === 0 || freeB.length === 0 || freeA.length > MAX_FREE || freeB.length > MAX_FREE) return b;
  const renamed = matchWords(freeB, freeA);
  if (renamed.size === 0) return b;
  const rename = (stem: string) => renamed.get(stem) ?? stem;
  return {
    ...b,
    words: b.words.map((word) => ({ ...word, stem: rename(word.stem) })),
    denied: b.denied.map(rename),
  };
}

const WEIGHTS: Readonly<Partial<Record<WordKind, number>>> = { word: 0, soft: 1, light: 2 };

/** Stems that only `here` has, those first that must not be left over. */
function freeWords(here: TextFeatures, there: TextFeatures): readonly string[] {
  const known = new Set(there.words.map(({ stem }) => stem));
  const free = here.words.filter(({ stem, kind }) => PLAIN.has(kind) && !known.has(stem));
  const weightOf = ({ kind }: ContentWord) => WEIGHTS[kind] ?? 0;
  return [...new Set(free.sort((x, y) => weightOf(x) - weightOf(y)).map(({ stem }) => stem))];
}

/** Each of `froms` with its own synonym of `tos`, as many as there can be. */
function matchWords(froms: readonly string[], tos: readonly string[]): ReadonlyMap<string, string> {
  const choices = new Map(froms.map((from) => [from, tos.filter((to) => areAlike(from, to))]));
  const taken = new Map<string, string>();
  const place = (from: string, tried: Set<string>): boolean =>
    (choices.get(from) ?? []).some((to) => {
      if (tried.has(to)) return false;
      tried.add(to);
      const holder = taken.get(to);
      if (holder !== undefined && !place(holder, tried)) return false;
      taken.set(to, from);
      return true;
    });
  for (const from of froms) place(from, new Set());
  return new Map([...taken].map(([to, from]) => [from, to]));
}

function areAlike(x: string, y: string): boolean {
  pairs ??= makePairs();
  return pairs.has(`${x} ${y}`) || isDerived(x, y);
}
