import { ALIKE_MARKERS, DIRECTIONS, PLACES } from '../english/word-lists';
import type { TextFeatures } from './read-text';
import type { ContentWord } from './word-reader';

/** True where the same words play other parts: "from London to Paris", "is A slower than B". */
export function isOtherOrder(a: TextFeatures, b: TextFeatures): boolean {
  if (a.stranded !== b.stranded) return true;
  const inA = firstWords(a.words);
  const inB = firstWords(b.words);
  const shared = [...inA.keys()].filter((stem) => inB.has(stem));
  if ((a.asksDoer && b.hasDo && !b.asksDoer) || (b.asksDoer && a.hasDo && !a.asksDoer)) return true;
  if (isOtherSubject(a, b, inA) || isOtherSubject(b, a, inB)) return true;
  if (hasSwappedSides(a, b, shared) || isOtherClock(a, b)) return true;
  if (isOtherDeed(a, b) || isOtherDeed(b, a)) return true;
  if (isOtherDoer(a, inB) || isOtherDoer(b, inA)) return true;
  // "My landlord" is to read it, "from my landlord" he wrote it.
  const isLetter = a.scope.act === 'write' && b.scope.act === 'write';
  if (isLetter && shared.some((stem) => isFrom(inA.get(stem)) !== isFrom(inB.get(stem)))) return true;
  return hasSwappedRole(shared, inA, inB) || hasUnexplainedMove(a, b, shared, [inA, inB]);
}

const isFrom = (placed: Placed | undefined) => placed?.word.role === 'from';

interface Placed {
  readonly word: ContentWord;
  readonly at: number;
}

type Words = ReadonlyMap<string, Placed>;

/** First occurrence of each word. */
function firstWords(words: readonly ContentWord[]): Words {
  const found = new Map<string, Placed>();
  for (const [at, word] of words.entries()) if (!found.has(word.stem)) found.set(word.stem, { word, at });
  return found;
}

/** "Can my employer read it?" is not "can I read my employer's?". */
const isOtherSubject = (asking: TextFeatures, other: TextFeatures, there: Words): boolean =>
  asking.scope.subject === 'i' && other.scope.subject !== 'i' && there.has(other.scope.subject);

/** "I cancelled it" isn't "it was cancelled on me". */
const isOtherDeed = ({ scope: mine }: TextFeatures, { scope: other }: TextFeatures): boolean =>
  [...mine.did].some((stem) => other.suffered.has(stem) && !other.did.has(stem));

/** "Cancelled by the airline" is not "cancelled with the airline". */
function isOtherDoer({ scope }: TextFeatures, there: Words): boolean {
  const { undergoer } = scope;
  return [...scope.doers].some((stem) => {
    const doer = there.get(stem);
    if (doer === undefined) return false;
    if (NOT_DOING.has(doer.word.role)) return true;
    // "Was Rome sacked by Gauls?" is not "did Rome sack Gauls?".
    const other = there.get(undergoer);
    return doer.word.role !== 'by' && other !== undefined && other.at < doer.at;
  });
}

const NOT_DOING: ReadonlySet<string> = new Set(['with', 'from', 'to', 'for', 'at', 'on', 'in']);

/** A marker leads one word here and another one there, or a word goes the other way. */
function hasSwappedRole(shared: readonly string[], a: Words, b: Words): boolean {
  const led = new Map<string, { here: boolean; there: boolean }>();
  for (const stem of shared) {
    const here = a.get(stem)?.word.role ?? '';
    const there = b.get(stem)?.word.role ?? '';
    if (here === there) continue;
    const isDirected = DIRECTIONS.has(here) || DIRECTIONS.has(there);
    if (isOtherAim(here, there)) return true;
    if (isDirected && here !== '' && there !== '' && !areAlike(here, there)) return true;
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

/** Text after the first "than", up to the end of its phrase. */
function sidesOf({ words }: TextFeatures): ReadonlyMap<string, 'before' | 'behind' | 'both'> | undefined {
  const at = words.findIndex(({ role }) => role === 'than');
  if (at < 0) return undefined;
  const sides = new Map<string, 'before' | 'behind' | 'both'>();
  for (const [index, { stem, segment }] of words.entries()) {
    const side = index >= at && segment === words[at]?.segment ? 'behind' : 'before';
    const known = sides.get(stem);
    sides.set(stem, known === undefined || known === side ? side : 'both');
  }
  return sides;
}

/** "Is oat milk better than milk from cows?" is not "is cow's milk better than oat milk?". */
function hasSwappedSides(a: TextFeatures, b: TextFeatures, shared: readonly string[]): boolean {
  const [inA, inB] = [sidesOf(a), sidesOf(b)];
  if (inA === undefined || inB === undefined) return false;
  const moved = (from: string, to: string) => shared.some((stem) => inA.get(stem) === from && inB.get(stem) === to);
  return moved('before', 'behind') && moved('behind', 'before');
}

/** The place a time of day belongs to: "6 pm in New York". */
function placeOfClock({ words }: TextFeatures): string {
  const at = words.findIndex(({ stem }, index) => CLOCK.has(stem) && words[index - 1]?.kind === 'number');
  return at < 0 ? '' : (words.slice(at + 1).find(({ kind }) => kind === 'word' || kind === 'name')?.stem ?? '');
}

const CLOCK: ReadonlySet<string> = new Set(['am', 'pm']);

function isOtherClock(a: TextFeatures, b: TextFeatures): boolean {
  const [inA, inB] = [placeOfClock(a), placeOfClock(b)];
  return inA !== '' && inB !== '' && inA !== inB && b.words.some(({ stem }) => stem === inA);
}

/** "Pay with a card" isn't "pay for a card", and a poem for somebody isn't about them. */
const isOtherAim = (here: string, there: string): boolean => OTHER_AIMS.has(`${here} ${there}`);
const OTHER_AIMS: ReadonlySet<string> = new Set(['with for', 'for with', 'for about', 'about for']);

const areAlike = (here: string, there: string): boolean =>
  here === there || ALIKE_MARKERS.some((group) => group.has(here) && group.has(there));

/** More than a rewording moves; also bounds the work for long texts. */
const MAX_MOVES = 100;

interface Move {
  readonly x: { readonly a: Placed; readonly b: Placed };
  readonly y: { readonly a: Placed; readonly b: Placed };
}

/** The only number of both texts and its noun, in any position: "in three sentences", "a three-sentence". */
function onlyCounted(a: TextFeatures, b: TextFeatures): ReadonlySet<string> {
  const [inA, inB] = [a, b].map(({ words }) => {
    const numbers = words.filter(({ kind }) => kind === 'number');
    const at = words.findIndex(({ kind }) => kind === 'number');
    return numbers.length === 1 ? [words[at]?.stem ?? '', words[at + 1]?.stem ?? ''] : [];
  });
  return new Set(inA?.length === 2 && inA.join(' ') === inB?.join(' ') ? inA : []);
}

/** True if two words swapped places without a rule that allows it. */
function hasUnexplainedMove(
  a: TextFeatures,
  b: TextFeatures,
  shared: readonly string[],
  words: readonly [Words, Words],
): boolean {
  const counted = onlyCounted(a, b);
  const placed = shared
    .flatMap((stem) => {
      const [inA, inB] = [words[0].get(stem), words[1].get(stem)];
      return inA === undefined || inB === undefined || inA.word.kind === 'light' ? [] : [{ a: inA, b: inB }];
    })
    .sort((x, y) => x.a.at - y.a.at);
  // "Who defeated Napoleon?" against "Who did Napoleon defeat?": one move is enough.
  const asksWho = a.question === 'who' || b.question === 'who';
  const subjectCounts = a.hasDo !== b.hasDo || (asksWho && a.asksDoer === b.asksDoer);
  const isStatement = a.question === 'none' && b.question === 'none' && placed.length >= 5;
  let moves = 0;
  for (const [i, x] of placed.entries()) {
    for (const y of placed.slice(i + 1)) {
      if (counted.has(x.a.word.stem) || counted.has(y.a.word.stem)) continue;
      if (x.b.at < y.b.at || isFree({ x, y }, isStatement)) continue;
      moves += 1;
      if (moves > MAX_MOVES) return true;
      if (subjectCounts || (isStatement && (changesRole(x) || changesRole(y)))) return true;
      if (kindOf(x) !== 'word' && kindOf(x) === kindOf(y)) return true;
      const isAround = placed.some((z) => x.a.at < z.a.at && z.a.at < y.a.at && y.b.at < z.b.at && z.b.at < x.b.at);
      if (isAround || placed.length <= 2) return true;
    }
  }
  return false;
}

/** A capital letter marks a name, except at the start of a sentence. */
const kindOf = ({ a, b }: Move['x']) => (b.word.kind === 'name' ? 'name' : a.word.kind);
const OWNING = new Set(['of', 'for']);

const changesRole = ({ a, b }: Move['x']) => a.word.role !== b.word.role;

/** True for an owner or a destination, which may stand anywhere. In a statement, only for a destination in both. */
function isMovable({ a, b }: Move['x'], isStatement: boolean): boolean {
  if (OWNING.has(a.word.role) || OWNING.has(b.word.role)) return true;
  if (isStatement) return PLACES.has(a.word.role) && b.word.role !== '';
  return PLACES.has(a.word.role) || PLACES.has(b.word.role);
}

/** "In Tokyo when it is six in New York": both led by the same marker, and each where the other was. */
function tradePlaces({ x, y }: Move): boolean {
  const { role, kind } = x.a.word;
  if (!PLACES.has(role) || OWNING.has(role) || isThing(kind) !== isThing(y.a.word.kind)) return false;
  return [x.b, y.a, y.b].every(({ word }) => word.role === role);
}

/** Words that start a clause, in which each word keeps its role. */
const CLAUSES: ReadonlySet<string> = new Set(['if', 'when', 'while', 'because', 'since', 'once', 'as']);

const isThing = (kind: ContentWord['kind']) => kind === 'name' || kind === 'word';

function isFree({ x, y }: Move, isStatement: boolean): boolean {
  if (x.a.word.kind === 'unit' || y.a.word.kind === 'unit') return true;
  if ((x.a.word.joint && y.a.word.joint) || (x.b.word.joint && y.b.word.joint)) return true;
  if (tradePlaces({ x, y })) return false;
  const isOneClause = CLAUSES.has(x.a.word.role) || CLAUSES.has(x.b.word.role);
  if (isOneClause && x.a.word.role === y.a.word.role && x.b.word.role === y.b.word.role) return false;
  if (isMovable(x, isStatement) || isMovable(y, isStatement)) return true;
  const keepRoles = x.a.word.role === x.b.word.role && y.a.word.role === y.b.word.role;
  if (keepRoles && (x.a.word.role !== '' || y.a.word.role !== '')) return true;
  // Active here, passive there: the agent moves after "by".
  if ([x, y].some(({ a, b }) => (a.word.role === 'by') !== (b.word.role === 'by'))) return true;
  return x.a.word.segment !== y.a.word.segment || x.b.word.segment !== y.b.word.segment;
}
