import { foldText } from '../folded-text';
import type { WindowRule } from '../rule-search';
import { type Detector, type Span, trailingRun } from '../span';

/** Invisible copies of ASCII. Source: the Unicode block Tags. */
const TAG_RUN = /[\u{e0020}-\u{e007e}]{3,}/gu;
const TAG_MARK = '\udb40';
const TAG_BASE = 0xe0000;
const isTagUnit = (code: number): boolean => code === 0xdb40 || (code >= 0xdc20 && code <= 0xdc7e);

/** Detects in decoded tag characters; a run of them is one find. */
export const findInTags = (rules: readonly WindowRule[]): Detector => ({
  find: (text, isEnd) =>
    text.includes(TAG_MARK)
      ? runsIn(text, TAG_RUN, isEnd).flatMap(({ start, end }) =>
          within(rules, { start, end }, fromTags(text.slice(start, end))),
        )
      : [],
  mayFind: (text, from) => text.includes(TAG_MARK, from),
  openFrom: (text) => trailingRun(text, isTagUnit),
});

type Run = Pick<Span, 'start' | 'end'>;

/** A run that may continue doesn't count yet. */
function runsIn(text: string, runs: RegExp, isEnd: boolean): readonly Run[] {
  const found: Run[] = [];
  for (const { 0: shown, index } of text.matchAll(runs)) {
    const end = index + shown.length;
    if (isEnd || end < text.length) found.push({ start: index, end });
  }
  return found;
}

/** The whole run, named by its first find. */
function within(rules: readonly WindowRule[], run: Run, said: string): readonly Span[] {
  for (const { detector, folding } of rules) {
    const [first] = detector.find(foldText(said, folding).text, true);
    if (first !== undefined) return [{ ...run, kind: first.kind }];
  }
  return [];
}

const fromTags = (run: string): string =>
  String.fromCodePoint(...[...run].map((character) => (character.codePointAt(0) ?? 0) - TAG_BASE));
