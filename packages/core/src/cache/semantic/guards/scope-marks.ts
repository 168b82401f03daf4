import { canonicalWord } from './canonical-word';

/** Quantity, number and agent that a text expresses. */
export interface ScopeMarks {
  /** Small words that narrow or widen the question; each must occur in both texts. */
  readonly marks: ReadonlySet<string>;
  /** Stems after "all", "every". */
  readonly all: ReadonlySet<string>;
  /** Stems after "a", "one", "some". */
  readonly part: ReadonlySet<string>;
  /** Stems after the "by" of a passive: "cancelled by the airline". */
  readonly doers: ReadonlySet<string>;
  /** Object of the action: the stem before the verb, if it is a single word. */
  readonly undergoer: string;
  /** Obligation or possibility: "what must I bring", "what can I bring". */
  readonly mode: '' | 'duty' | 'choice';
  /** Past or future: "did I pay", "do I pay". */
  readonly since: '' | 'past' | 'open';
  /** Active or passive: "who pays", "who is paid". */
  readonly voice: '' | 'acts' | 'undergoes';
  /** Subject of the action: `i`, or the stem of "can my employer …"; empty if absent. */
  readonly subject: string;
  /** Precision of a requested time: "on what date", "in which year". */
  readonly grain: string;
  /** Agent of the act: "who did I block", "who blocked me". */
  readonly deed: '' | 'mine' | 'theirs';
  /** Acts by the asker, and acts that happened to the asker: "I cancelled it", "it was cancelled on me". */
  readonly did: ReadonlySet<string>;
  readonly suffered: ReadonlySet<string>;
  /** Tense of a question that begins with it: "was it on time", "will it be". */
  readonly start: '' | 'was' | 'is' | 'will';
  /** A second question: "who was it, and when?" */
  readonly asksAlso: boolean;
  /** Asking or telling somebody. */
  readonly speech: '' | 'ask' | 'tell';
  /** Time of the event; empty if unspecified. */
  readonly tense: '' | 'present' | 'past' | 'future';
  /** Writing a text or explaining one. */
  readonly act: '' | 'write' | 'explain';
}

/** Wordings of one mark. Other words don't narrow a question. */
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
    /\banother\b|\bdifferent\b(?! (?:from|than|to)\b| *[?.!,]| *$)|\b(?:the|any|some|my|your|an)?other(?: than)?\b(?! (?:words|hand|way (?:a)?round))|\belse\b/,
    'other',
  ],
  [/\bboth\b/, 'both'],
  [/\b(?:each|per) other\b|\btogether\b|\bat the same time\b|\bsimultaneously\b/, 'together'],
  [/\bagain\b|\bonce more\b|\bre-?appl/, 'again'],
  [/\btoo (?:late|early|soon|much|many|old|young|big|small|long|short)\b/, 'too'],
  [/\b(?:should|can|may|must|shall) (?:i|we|you) (?:keep|continue|carry on|go on) [a-z]+ing\b/, 'go on'],
  [/\b(?:almost|nearly|barely|hardly)\b/, 'almost'],
  [/\bmyself\b|\byourself\b|\bon my own\b/, 'alone'],
];

const HINTS =
  /\b(?:just|only|exactly|merely|one|single|specific|particular|certain|another|different|other|else|both|together|myself|yourself|own|all|every|each|by|same|simultaneously|again|more|too|keep|continue|carry|go|almost|nearly|barely|hardly)\b/;
const ALL = /\b(?:all|every|each)(?: of)?(?: (?:the|my|your|our|his|her|their|its|these|those))? ([\p{L}\p{N}]+)/gu;
const PART =
  /\b(?:an?|one|some|most|single|this|that|half)(?: of)?(?: (?:the|my|your|our|his|her|their|its|these|those))? ([\p{L}\p{N}]+)/gu;
const DOER =
  /\b(?:is|are|was|were|be|been|being|gets?|got)(?: \p{L}+)? \p{L}+ by(?: (?:the|an?|my|your|our|his|her|their|its))? ([\p{L}\p{N}]+)/gu;

/** "Was Rome sacked by Gauls?", "the flight that was cancelled by the airline". */
const ASKED_PASSIVE = /(?:^|[,;:.!?] )(?:is|are|was|were) (?:the |an? )?([\p{L}\p{N}]+) \p{L}+ by\b/u;

const DUTY =
  /\b(?:what|which|who|how (?:many|much))\b[^,.;:?!]{0,40}\b(?:must|have to|has to|need to|needs to)\b(?! do\b)/;
const CHOICE =
  /\b(?:what|which|who|how (?:many|much))\b[^,.;:?!]{0,40}\b(?:can|may|could|might|allowed to)\b(?! (?:i|we|you|one) do\b)/;
const WHO = '(?:i|we|you|my|our|your|me|he|she|they)';
const DONE = new RegExp(`\\b(?:did|was|were) ${WHO}\\b`);
const COULD_HAVE = /\b(?:could|should|would|might) (?:i|we|you|my \w+) have \p{L}+(?:ed|en|t|n)\b/u;
const TO_DO = new RegExp(`\\b(?:do|can|will|would|should|must|shall|may|am|is|are) ${WHO}\\b`);

function sinceOf(text: string): ScopeMarks['since'] {
  if (COULD_HAVE.test(text)) return 'past';
  const past = DONE.test(text);
  const open = TO_DO.test(text);
  return past === open ? '' : past ? 'past' : 'open';
}

const MINE = /\bwho(?:m)?(?: (?:do|did|can|should|have|has|will))? (?:i|we)\b/;
const THEIRS = /\bwho (?:has |have |is |was )?\p{L}+ (?:me|us)\b/u;

const DID = /(?:^|[ ,])(?:i|we) (?:have |had |just |already )?([a-z]{3,}ed)\b/g;
const SUFFERED = /\b(?:(?:was|were|got|been|is|are) (?=[a-z]+ed\b)|(?=[a-z]+ed (?:on|by) (?:me|us)\b))([a-z]{3,}ed)\b/g;

const START = /(?:^|[,;:.!?] )(was|were|is|are|will) (?!it (?:true|so|right|correct)\b)/;
const STARTS: Readonly<Record<string, ScopeMarks['start']>> = {
  was: 'was',
  were: 'was',
  is: 'is',
  are: 'is',
  will: 'will',
};
const startOf = (text: string): ScopeMarks['start'] => STARTS[START.exec(text)?.[1] ?? ''] ?? '';

const GRAIN = /\b(?:what|which) (?:exact )?(date|month|year|decade|century)\b/;
const ALSO =
  /\b(?:who|what|when|where|why|how|whom|which)\b.*\band (?:by |in |at )?(?:who|what|when|where|why|how|whom|which)\b/;

const UNDERGOES =
  /\b(?:who|what|which \p{L}+) (?:is|are|was|were|gets?|got|has been|have been) (?:\p{L}+ly )?\p{L}+(?:ed|en|wn|nt|ught|id|ld|ung|uck)\b/u;
const ACTS =
  /\b(?:who|which \p{L}+) (?!is|are|was|were|do|does|did|can|could|will|would|should|must|may|might|has|have|had|gets?|got|\p{L}+ly\b)\p{L}+/u;
const voiceOf = (text: string) => (UNDERGOES.test(text) ? 'undergoes' : ACTS.test(text) ? 'acts' : '');

const SUBJECT =
  /\b(?:can|could|may|might|must|should|do|does|did|will|would)(?: not)? (?:(i|we)\b|(?:my|the|his|her|our|their) (\p{L}+))/u;

function subjectOf(text: string): string {
  if (/\b(?:let|allow)s? (?:me|us)\b/.test(text)) return 'i';
  const [, asker, other] = SUBJECT.exec(text) ?? [];
  return asker === undefined ? canonicalWord(other ?? '') : 'i';
}

const ASK = /\bask(?:ing)? (?:my|the|an?|his|her|our|him|them|for)\b/;
const TELL = /\btell(?:ing)? (?:my|the|an?|his|her|our|him|them)\b/;
const speechOf = (text: string) => (ASK.test(text) ? 'ask' : TELL.test(text) ? 'tell' : '');

const modeOf = (text: string) => (DUTY.test(text) ? 'duty' : CHOICE.test(text) ? 'choice' : '');

const BY = /\bby(?: (?:the|an?|my|your|our|his|her|their|its))? ([\p{L}\p{N}]+)/gu;

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
  const said = {
    part: stemsBehind(text, PART),
    tense: tenseOf(text),
    act: actOf(text),
    mode: modeOf(text),
    voice: voiceOf(text),
    subject: subjectOf(text),
    speech: speechOf(text),
    asksAlso: ALSO.test(text),
    deed: MINE.test(text) ? 'mine' : THEIRS.test(text) ? 'theirs' : '',
    start: startOf(text),
    did: text.includes('i ') ? stemsBehind(text, DID) : NOTHING,
    suffered: text.includes('ed') ? stemsBehind(text, SUFFERED) : NOTHING,
    grain: GRAIN.exec(text)?.[1] ?? '',
    since: sinceOf(text),
    undergoer: '',
  } as const;
  if (!HINTS.test(text)) return { ...said, marks: NOTHING, all: NOTHING, doers: NOTHING };
  const marks = new Set(MARKS.filter(([pattern]) => pattern.test(text)).map(([, mark]) => mark));
  const undergoer = canonicalWord(ASKED_PASSIVE.exec(text)?.[1] ?? '');
  const doers = new Set([...stemsBehind(text, DOER), ...(undergoer === '' ? [] : stemsBehind(text, BY))]);
  return { ...said, marks, all: stemsBehind(text, ALL), doers, undergoer };
}

function stemsBehind(text: string, pattern: RegExp): ReadonlySet<string> {
  return new Set([...text.matchAll(pattern)].map(([, word = '']) => canonicalWord(word)));
}

/** Marks that must match if both texts have them. */
const SAYINGS: readonly ((marks: ScopeMarks) => string)[] = [
  ({ tense }) => tense,
  ({ act }) => act,
  ({ mode }) => mode,
  ({ since }) => since,
  ({ voice }) => voice,
  ({ speech }) => speech,
  ({ grain }) => grain,
  ({ deed }) => deed,
  ({ start }) => start,
];

/** True if the texts differ in quantity, constraint or time. */
export function isOtherScope(a: ScopeMarks, b: ScopeMarks): boolean {
  if (a.marks.size !== b.marks.size || [...a.marks].some((mark) => !b.marks.has(mark))) return true;
  if (a.asksAlso !== b.asksAlso) return true;
  if (SAYINGS.some((of) => of(a) !== '' && of(b) !== '' && of(a) !== of(b))) return true;
  return [...a.all].some((stem) => b.part.has(stem)) || [...b.all].some((stem) => a.part.has(stem));
}
