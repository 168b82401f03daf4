import { replaceQuestions } from '../english/rewrites';

/** Kind of the requested answer. `none`: no question, as in keywords and orders. */
export type QuestionKind = 'how' | 'why' | 'when' | 'where' | 'who' | 'what' | 'polar' | 'advice' | 'duty' | 'none';

const AUX = '(?:is|are|was|were|do|does|did|can|could|will|would|should|may|must|has|have|had|am)';

/** "A poem for my dad who is turning 60" doesn't ask for a person. */
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

const tidyBlanks = (text: string) => text.replace(/\s+/g, ' ').trim();

/** The kind of a question in lower case, and the text with wordings of that kind made alike. */
export function readQuestion(lower: string): { readonly question: QuestionKind; readonly text: string } {
  let text = tidyBlanks(replaceQuestions(tidyBlanks(lower)));
  if (ORDER.test(text)) text = text.replace(RELATIVE, '$1 that');
  const found = FIRST.find(([pattern]) => pattern.test(text));
  if (found !== undefined) return { question: found[1], text };
  if (!POLAR.test(text)) return { question: 'none', text };
  return { question: DUTY.test(text) ? 'duty' : ADVICE.test(text) ? 'advice' : 'polar', text };
}

/** True if the question words allow one answer for both. */
export function isSameQuestion(a: QuestionKind, b: QuestionKind): boolean {
  if (a === b || a === 'none' || b === 'none') return true;
  return (a === 'what' && b === 'who') || (a === 'who' && b === 'what');
}
