/** What kind of answer is asked for. `none`: no question at all, as in keywords and orders. */
export type QuestionKind = 'how' | 'why' | 'when' | 'where' | 'who' | 'what' | 'polar' | 'advice' | 'duty' | 'none';

const AUX = '(?:is|are|was|were|do|does|did|can|could|will|would|should|may|must|has|have|had|am)';

/** Wordings of one kind → that kind's own word. Lower case; applied in order. */
const REWRITES: readonly (readonly [pattern: RegExp, word: string])[] = [
  [/\bwhat(?:'?s| is| was| are| were)? the (?:reasons?|causes?)(?: for| of| that| why)?\b/g, 'why'],
  [/\bwhat (?:could |would )?(?:makes?|made|causes?|caused)\b/g, 'why'],
  [/\bhow come\b/g, 'why'],
  [/\bhow (?:do|does|is|are) (?=.*\b(?:differ|different|compare)\b)/g, 'what is '],
  [/\bin (?:what|which) ways?\b/g, 'how'],
  [/\bwhat(?:'?s| is| was| are)? (the \w+) like\b/g, 'how is $1'],
  [/\bhow (?:much|many) (?:is|are) (?=[\d$€£])/g, 'what is '],
  [/\bhow many (\w+) (?:is|are|do|does) (?=[\d$€£])/g, 'what $1 is '],
  [/\b(?:reasons? for|causes? of)\b/g, 'why'],
  [/\b(?:by|until|since) when\b/g, 'when is'],
  [
    /\b(?:at |in |on )?(?:what|which) (?:time|date|year|month)\b(?! zone)(?: is| was| will| do| does| did)?/g,
    'when is',
  ],
  [/\bwhat(?:'?s| is| would be) the ((?:best|right|latest|earliest) )(?:time|date|day|moment)\b/g, 'when is the $1'],
  [/\bwhen(?:'?s| is) the ((?:best|right|latest|earliest) )(?:time|date|day|moment)\b/g, 'when is the $1'],
  [/\bwhat(?:'?s| is) the deadline\b/g, 'when is the deadline'],
  [/\bwhat(?:'?s| is| was) the (?:date|time|year)(?: of| that| when)?\b(?! zone)/g, 'when is'],
  [/\b(?:what|which) person\b/g, 'who'],
  [/\b(?:the )?author of\b/g, 'who write'],
  [/\b(?:for )?how long\b|\bhow much time\b|\bhow many (?:hours|minutes|days) (?:is|are) the\b/g, 'duration'],
  [/\bhow many\b|\b(?:what|which)?(?:'s| is)?(?: the)? ?number of\b/g, 'count-of'],
  [/\bhow much\b|\b(?:what|which)?(?:'s| is)?(?: the)? ?amount of\b/g, 'count-of'],
  [/\bhow (?=old|tall|high|far|big|large|fast|often|frequently|heavy|deep|wide|hot|cold|soon)/g, 'what '],
  [
    /\b(?:what(?:'?s| is| are| would be)|which|is there|i need|show me)? ?(?:the |a |some |any )?(?:best |right |easiest |correct |usual )?(?:ways?|tricks?|steps?|process|method|command|procedure) (?:to|of|for|that)\b/g,
    'how do i ',
  ],
  [
    /\bwhat (?:can|should|must|do|would|could) (?:i|we|you) (?:have to |need to )?do(?= *[?.!,]| *$| to\b| if\b| when\b| for\b| about\b)/g,
    'how do i ',
  ],
  [/\bwhat (?:do i have|do i need|is needed|is required) to (?:do )?(?:to )?\b/g, 'how do i '],
];

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
  for (const [pattern, word] of REWRITES) text = text.replace(pattern, ` ${word} `);
  text = text.replace(/\s+/g, ' ').trim();
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
