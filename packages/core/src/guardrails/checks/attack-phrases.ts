import marks from '../../../data/attacks/marks.txt' with { type: 'text' };
import phrases from '../../../data/attacks/phrases.txt' with { type: 'text' };
import { linesOf } from '../../cache/semantic/english/read-lists';
import { foldText } from '../folded-text';
import type { Passage } from './passages';

/** One word of a sequence, with the number of other words allowed before it. */
interface Step {
  readonly most: number;
  readonly row: number;
  readonly at: number;
}

const CJK = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}`;
const WORD = new RegExp(String.raw`[${CJK}]|[[\p{L}\p{N}]--[${CJK}]]+`, 'gv');
const MARKS = linesOf(marks);
const ROWS = linesOf(phrases).map((line) => line.split(';').map((step) => step.split('|')));
const LENGTHS = ROWS.map((row) => row.length);
const WHOLE = new Map<string, Step[]>();
/** By first three letters, enough for `word*`. */
const BEGINNINGS = new Map<string, { readonly text: string; readonly step: Step }[]>();
const HEAD = 3;

for (const [row, steps] of ROWS.entries()) {
  for (const [at, [most = '', words = '']] of steps.entries()) {
    const step: Step = { most: Number(most), row, at };
    for (const word of words.trim().split(' ')) {
      const text = foldText(word.replace('*', ''), 'words').text;
      if (!word.endsWith('*')) WHOLE.set(text, [...(WHOLE.get(text) ?? []), step]);
      else BEGINNINGS.set(text.slice(0, HEAD), [...(BEGINNINGS.get(text.slice(0, HEAD)) ?? []), { text, step }]);
    }
  }
}

function stepsOf(word: string): readonly Step[] {
  const whole = WHOLE.get(word) ?? [];
  const begun = BEGINNINGS.get(word.slice(0, HEAD))?.filter(({ text }) => word.startsWith(text));
  if (begun === undefined || begun.length === 0) return whole;
  // The last step of a sequence first: a word never matches two of them.
  return [...whole, ...begun.map(({ step }) => step)].toSorted((a, b) => b.at - a.at);
}

/** Progress in a sequence of words: index of the last one, and start of the first. */
interface Progress {
  readonly word: number;
  readonly start: number;
}

/** Positions in a folded text with the words of an attack in order. Each word advances a sequence by one step. */
export function* attackPhrases(text: string): Generator<Passage> {
  const progress = LENGTHS.map((): (Progress | undefined)[] => []);
  let word = 0;
  for (const { 0: shown, index } of text.matchAll(WORD)) {
    for (const { row, at, most } of stepsOf(shown)) {
      const steps = progress[row] ?? [];
      const before = at === 0 ? { word, start: index } : steps[at - 1];
      if (before === undefined || (at > 0 && word - before.word > most + 1)) continue;
      if (at + 1 === LENGTHS[row]) yield { start: before.start, end: index + shown.length };
      else steps[at] = { word, start: before.start };
    }
    word++;
  }
  for (const mark of MARKS)
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
      yield { start: at, end: at + mark.length };
}
