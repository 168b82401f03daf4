import { ALIKE_MARKERS, PLACES } from './guard-words';
import type { TextFeatures } from './read-text';
import type { ContentWord } from './word-reader';

/** True where the same words play other parts: "from London to Paris", "is A slower than B". */
export function isOtherOrder(a: TextFeatures, b: TextFeatures): boolean {
  if (a.stranded !== b.stranded) return true;
  const inA = uniqueWords(a.words);
  const inB = uniqueWords(b.words);
  const shared = [...inA.keys()].filter((stem) => inB.has(stem));
  return hasSwappedRole(shared, inA, inB) || hasUnexplainedMove(a, b, shared, [inA, inB]);
}

interface Placed {
  readonly word: ContentWord;
  readonly at: number;
}

type Words = ReadonlyMap<string, Placed>;

/** Words that stand once: only of those it is clear who moved. */
function uniqueWords(words: readonly ContentWord[]): Words {
  const found = new Map<string, Placed | undefined>();
  for (const [at, word] of words.entries()) found.set(word.stem, found.has(word.stem) ? undefined : { word, at });
  return new Map([...found].filter((entry): entry is [string, Placed] => entry[1] !== undefined));
}

/** A marker leads one word here and another one there, or a word goes the other way. */
function hasSwappedRole(shared: readonly string[], a: Words, b: Words): boolean {
  const led = new Map<string, { here: boolean; there: boolean }>();
  for (const stem of shared) {
    const here = a.get(stem)?.word.role ?? '';
    const there = b.get(stem)?.word.role ?? '';
    if (here === there) continue;
    if (here !== '' && there !== '' && !areAlike(here, there)) return true;
    for (const [role, side] of [
      [here, 'here'],
      [there, 'there'],
    ] as const) {
      if (role === '') continue;
      const entry = led.get(role) ?? { here: false, there: false };
      entry[side] = true;
      led.set(role, entry);
    }
  }
  return [...led.values()].some(({ here, there }) => here && there);
}

const areAlike = (here: string, there: string): boolean =>
  here === there || ALIKE_MARKERS.some((group) => group.has(here) && group.has(there));

interface Move {
  readonly x: { readonly a: Placed; readonly b: Placed };
  readonly y: { readonly a: Placed; readonly b: Placed };
}

/** Two words changed places although nothing says that their place means nothing. */
function hasUnexplainedMove(
  a: TextFeatures,
  b: TextFeatures,
  shared: readonly string[],
  words: readonly [Words, Words],
): boolean {
  const placed = shared
    .flatMap((stem) => {
      const [inA, inB] = [words[0].get(stem), words[1].get(stem)];
      return inA === undefined || inB === undefined || inA.word.kind === 'light' ? [] : [{ a: inA, b: inB }];
    })
    .sort((x, y) => x.a.at - y.a.at);
  // "Who defeated Napoleon?", "Who did Napoleon defeat?": one move is enough.
  const asksWho = a.question === 'who' || b.question === 'who';
  const subjectCounts = a.hasDo !== b.hasDo || (asksWho && a.asksDoer === b.asksDoer);
  const isStatement = a.question === 'none' && b.question === 'none';
  for (const [i, x] of placed.entries()) {
    for (const y of placed.slice(i + 1)) {
      if (x.b.at < y.b.at || isFree({ x, y })) continue;
      if (subjectCounts || (isStatement && (changesRole(x) || changesRole(y)))) return true;
      if (x.a.word.kind !== 'word' && x.a.word.kind === y.a.word.kind) return true;
      const isAround = placed.some((z) => x.a.at < z.a.at && z.a.at < y.a.at && y.b.at < z.b.at && z.b.at < x.b.at);
      if (isAround || placed.length <= 2) return true;
    }
  }
  return false;
}

const changesRole = ({ a, b }: Move['x']) => a.word.role !== b.word.role;

/** Led by the same marker in both, or an owner in one: such a phrase may stand anywhere. */
function isMovable({ a, b }: Move['x']): boolean {
  if (a.word.role === 'of' || b.word.role === 'of') return true;
  return PLACES.has(a.word.role) && b.word.role !== '';
}

function isFree({ x, y }: Move): boolean {
  if (x.a.word.kind === 'unit' || y.a.word.kind === 'unit') return true;
  if ((x.a.word.joint && y.a.word.joint) || (x.b.word.joint && y.b.word.joint)) return true;
  if (isMovable(x) || isMovable(y)) return true;
  const keepRoles = x.a.word.role === x.b.word.role && y.a.word.role === y.b.word.role;
  if (keepRoles && (x.a.word.role !== '' || y.a.word.role !== '')) return true;
  // Active here, passive there: the doer moves behind "by".
  if ([x, y].some(({ a, b }) => (a.word.role === 'by') !== (b.word.role === 'by'))) return true;
  return x.a.word.segment !== y.a.word.segment || x.b.word.segment !== y.b.word.segment;
}
