/** What kind of answer is asked for. `none`: no question at all, as in keywords and orders. */
export type QuestionKind = 'how' | 'why' | 'when' | 'where' | 'who' | 'what' | 'polar' | 'advice' | 'duty' | 'none';

const AUX = '(?:is|are|was|were|do|does|did|can|could|will|would|should|may|must|has|have|had|am)';

/** Wordings of one kind → that kind's own word. Lower case; applied in order, each where the text has one of its hints. */
const REWRITES: readonly (readonly [pattern: RegExp, word: string, hints: string])[] = [
  [/\bwhat(?:'?s| is| was| are| were)? the (?:reasons?|causes?)(?: for| of| that| why)?\b/g, 'why', 'reason|cause'],
  [/\bwhat (?:could |would )?(?:makes?|made|causes?|caused)\b/g, 'why', 'make|made|cause'],
  [/\bhow come\b/g, 'why', 'how come'],
  [/\bhow (?:do|does|is|are) (?=.*\b(?:differ|different|compare)\b)/g, 'what is ', 'differ|compare'],
  [/\bin (?:what|which) ways?\b/g, 'how', ' way'],
  [/\bwhat(?:'?s| is| was| are)? (the \w+) like\b/g, 'how is $1', ' like'],
  [/\bhow (?:much|many) (?:is|are) (?=[\d$€£])/g, 'what is ', 'how much |how many '],
  [/\bhow many (\w+) (?:is|are|do|does) (?=[\d$€£])/g, 'what $1 is ', 'how many '],
  [/\b(?:reasons? for|causes? of)\b/g, 'why', 'reason|cause'],
  [/\b(?:by|until|since) when\b/g, 'when is', ' when'],
  [
    /\b(?:at |in |on )?(?:what|which) (?:time|date|year|month)\b(?! zone)(?: is| was| will| do| does| did)?/g,
    'when is',
    'time|date|year|month',
  ],
  [
    /\bwhat(?:'?s| is| would be) the ((?:best|right|latest|earliest) )(?:time|date|day|moment)\b/g,
    'when is the $1',
    'time|date|day|moment',
  ],
  [
    /\bwhen(?:'?s| is) the ((?:best|right|latest|earliest) )(?:time|date|day|moment)\b/g,
    'when is the $1',
    'time|date|day|moment',
  ],
  [/\bwhat(?:'?s| is) the deadline\b/g, 'when is the deadline', 'deadline'],
  [/\bwhat(?:'?s| is| was) the (?:date|time|year)(?: of| that| when)?\b(?! zone)/g, 'when is', 'date|time|year'],
  [/\b(?:what|which) person\b/g, 'who', 'person'],
  [/\b(?:the )?author of\b/g, 'who write', 'author of'],
  [
    /\b(?:for )?how long\b|\bhow much time\b|\bhow many (?:hours|minutes|days) (?:is|are) the\b/g,
    'duration',
    'long|much time|how many',
  ],
  [/\bhow many\b|\b(?:what|which)?(?:'s| is)?(?: the)? ?number of\b/g, 'count-of', 'many|number'],
  [/\bhow much\b|\b(?:what|which)?(?:'s| is)?(?: the)? ?amount of\b/g, 'count-of', 'much|amount'],
  [/\bhow (?=old|tall|high|far|big|large|fast|often|frequently|heavy|deep|wide|hot|cold|soon)/g, 'what ', 'how '],
  [
    /\b(?:what(?:'?s| is| are| would be)|which|is there|i need|show me)? ?(?:the |a |some |any )?(?:best |right |easiest |correct |usual )?(?:ways?|tricks?|steps?|process|method|command|procedure) (?:to|of|for|that)\b/g,
    'how do i ',
    'way|trick|step|process|method|command|procedure',
  ],
  [
    /\bwhat (?:can|should|must|do|would|could) (?:i|we|you) (?:have to |need to )?do(?= *[?.!,]| *$| to\b| if\b| when\b| for\b| about\b)/g,
    'how do i ',
    ' do',
  ],
  [/\bwhat (?:do i have|do i need|is needed|is required) to (?:do )?(?:to )?\b/g, 'how do i ', 'have|need|required'],
];

const HINTED = REWRITES.map(([pattern, word, hints]) => ({ pattern, word: ` ${word} `, hints: hints.split('|') }));

/** "A poem for my dad who is turning 60" asks for nobody. */
const ORDER =
  /^(?:please )?(?:write|draft|compose|invent|suggest|give|create|make|explain|recommend|how|what|why|when)\b.*\b(?:who|whose)\b/;
const RELATIVE = /\b((?:an?|the|my|our|his|her) (?:\p{L}+ ){0,2}?\p{L}+) (?:who|whose)\b/gu;

const FIRST: readonly (readonly [pattern: RegExp, kind: QuestionKind])[] = [
  [/\bwhy\b/, 'why'],
  [new RegExp(`\\bwhen ${AUX}\\b`), 'when'],
  [new RegExp(`\\bwhere (?:\\p{L}+ )?${AUX}\\b|^where\\b`, 'u'), 'where'],
  [/\b(?:who|whom|whose)\b/, 'who'],
  [/\bhow\b/, 'how'],
  [/\b(?:what|which|what's|count-of|duration)\b/, 'what'],
];
/** At the beginning of a stretch. */
const POLAR = new RegExp(
  `(?:^|[,;:.!?] (?:and |but |or )?)(?:please |hi |hello |so |then |now |also )*${AUX} (?!you (?:please )?)`,
);

const DUTY = /\b(?:must|have to|has to|required to|necessary to|mandatory to|need to)\b/;
const ADVICE = /\b(?:should|ought|better to)\b/;

/** The kind of a question in lower case, and the text with wordings of that kind made alike. */
export function readQuestion(lower: string): { readonly question: QuestionKind; readonly text: string } {
  let text = lower.replace(/\s+/g, ' ').trim();
  for (const { pattern, word, hints } of HINTED) {
    if (hints.some((hint) => text.includes(hint))) text = text.replace(pattern, word);
  }
  text = text.replace(/\s+/g, ' ').trim();
  if (ORDER.test(text)) text = text.replace(RELATIVE, '$1 that');
  const found = FIRST.find(([pattern]) => pattern.test(text));
  if (found !== undefined) return { question: found[1], text };
  if (!POLAR.test(text)) return { question: 'none', text };
  return { question: DUTY.test(text) ? 'duty' : ADVICE.test(text) ? 'advice' : 'polar', text };
}

/** Whether an answer to one may answer the other, as far as the question word goes. */
export function isSameQuestion(a: QuestionKind, b: QuestionKind): boolean {
  if (a === b || a === 'none' || b === 'none') return true;
  return (a === 'what' && b === 'who') || (a === 'who' && b === 'what');
}
