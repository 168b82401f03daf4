import phrases from '../../../../data/english/phrases.txt' with { type: 'text' };
import questions from '../../../../data/english/questions.txt' with { type: 'text' };
import { linesOf } from './read-lists';

interface Rewrite {
  readonly pattern: RegExp;
  readonly word: string;
  readonly hints: readonly string[];
}

const blanks = (text: string) => text.replaceAll('_', ' ');

/** Parses `hint|hint :: pattern => word`; `_` means a blank. */
function readRewrite(line: string): Rewrite {
  const [, hints, pattern, word] = /^(.+?) :: (.+) => (.+)$/.exec(line) ?? [];
  if (hints === undefined || pattern === undefined || word === undefined) throw new Error(`no rewrite: ${line}`);
  const flags = pattern.includes('\\p{') ? 'gu' : 'g';
  return { pattern: new RegExp(pattern, flags), word: ` ${blanks(word)} `, hints: blanks(hints).split('|') };
}

const PHRASES = linesOf(phrases).map(readRewrite);
const QUESTIONS = linesOf(questions).map(readRewrite);

/** One after the other; a pattern is tried only where the text has one of its hints. */
function rewrite(text: string, rewrites: readonly Rewrite[]): string {
  let result = text;
  for (const { pattern, word, hints } of rewrites) {
    if (hints.some((hint) => result.includes(hint))) result = result.replace(pattern, word);
  }
  return result;
}

/** A text in lower case with its phrases replaced. */
export const replacePhrases = (text: string): string => rewrite(text, PHRASES);

/** A text in lower case with the wordings of one kind of question made alike. */
export const replaceQuestions = (text: string): string => rewrite(text, QUESTIONS);
