import { canonicalWord } from './canonical-word';

/** What a text says of how much and how many of a thing it means, and who does it. */
export interface ScopeMarks {
  /** Little words that narrow or widen what is asked; each has to stand in both texts. */
  readonly marks: ReadonlySet<string>;
  /** Stems behind "all", "every". */
  readonly all: ReadonlySet<string>;
  /** Stems behind "a", "one", "some". */
  readonly part: ReadonlySet<string>;
  /** Stems behind the "by" of a passive: "cancelled by the airline". */
  readonly doers: ReadonlySet<string>;
  /** When it is, was or will be; empty where the text does not say. */
  readonly tense: '' | 'present' | 'past' | 'future';
  /** Whether a text is to be made or told of. */
  readonly act: '' | 'write' | 'explain';
}

/** Wordings of one mark. A word that stands nowhere here narrows nothing. */
const MARKS: readonly (readonly [pattern: RegExp, mark: string])[] = [
  [
    /\b(?:just|only|exactly|merely) (?:one|an?|the|my|your|this|that|these|those|some|for|in|on|at|from|with)\b/,
    'only',
  ],
  [
    /\bone (?:of|specific|particular|individual|person|member|single)\b|\ba (?:single|specific|particular|certain)\b/,
    'one',
  ],
  [
    /\banother\b|\bdifferent\b|\b(?:the|any|some|my|your|an)?other(?: than)?\b(?! (?:words|hand|way (?:a)?round))|\belse\b/,
    'other',
  ],
  [/\bboth\b/, 'both'],
  [/\b(?:each|per) other\b|\btogether\b|\bat the same time\b|\bsimultaneously\b/, 'together'],
  [/\bmyself\b|\byourself\b|\bon my own\b/, 'alone'],
];

const HINTS =
  /\b(?:just|only|exactly|merely|one|single|specific|particular|certain|another|different|other|else|both|together|myself|yourself|own|all|every|each|by|same|simultaneously)\b/;
const ALL = /\b(?:all|every|each)(?: of)?(?: (?:the|my|your|our|his|her|their|its|these|those))? ([\p{L}\p{N}]+)/gu;
const PART =
  /\b(?:an?|one|some|most|single|this|that|half)(?: of)?(?: (?:the|my|your|our|his|her|their|its|these|those))? ([\p{L}\p{N}]+)/gu;
const DOER =
  /\b(?:is|are|was|were|be|been|being|gets?|got)(?: \p{L}+)? \p{L}+ by(?: (?:the|an?|my|your|our|his|her|their|its))? ([\p{L}\p{N}]+)/gu;

const PRESENT = /\b(?:who|what|where|which \p{L}+)(?:'s| is| are)\b/u;
const PAST = /\b(?:who|what|where|which \p{L}+) (?:was|were)\b/u;
const FUTURE = /\b(?:who|what|where|when|which \p{L}+)(?:'ll| will)\b/u;
const WRITE = /\b(?:write|draft|compose|generate|create|implement)\b/;
const EXPLAIN = /\b(?:explain|describe)\b/;

const tenseOf = (text: string) =>
  PAST.test(text) ? 'past' : FUTURE.test(text) ? 'future' : PRESENT.test(text) ? 'present' : '';
const actOf = (text: string) => (WRITE.test(text) ? 'write' : EXPLAIN.test(text) ? 'explain' : '');

const NOTHING: ReadonlySet<string> = new Set();

/** Reads a prepared text in lower case. */
export function readScope(text: string): ScopeMarks {
  const said = { part: stemsBehind(text, PART), tense: tenseOf(text), act: actOf(text) } as const;
  if (!HINTS.test(text)) return { ...said, marks: NOTHING, all: NOTHING, doers: NOTHING };
  const marks = new Set(MARKS.filter(([pattern]) => pattern.test(text)).map(([, mark]) => mark));
  return { ...said, marks, all: stemsBehind(text, ALL), doers: stemsBehind(text, DOER) };
}

function stemsBehind(text: string, pattern: RegExp): ReadonlySet<string> {
  return new Set([...text.matchAll(pattern)].map(([, word = '']) => canonicalWord(word)));
}

/** Whether one text asks of all where the other asks of one, narrows what the other leaves open, or of another time. */
export function isOtherScope(a: ScopeMarks, b: ScopeMarks): boolean {
  if (a.marks.size !== b.marks.size || [...a.marks].some((mark) => !b.marks.has(mark))) return true;
  if (a.tense !== '' && b.tense !== '' && a.tense !== b.tense) return true;
  if (a.act !== '' && b.act !== '' && a.act !== b.act) return true;
  return [...a.all].some((stem) => b.part.has(stem)) || [...b.all].some((stem) => a.part.has(stem));
}
