import { foldText } from '../folded-text';
import type { WindowRule } from '../rule-search';
import { DIGITS, type Finder, LETTERS, oneOf, type Span, trailingRun } from '../span';

/** Copies of ASCII that nobody sees. Source: the Unicode block Tags. */
const TAG_RUN = /[\u{e0020}-\u{e007e}]{3,}/gu;
const TAG_MARK = '\udb40';
const TAG_BASE = 0xe0000;
const isTagUnit = (code: number): boolean => code === 0xdb40 || (code >= 0xdc20 && code <= 0xdc7e);
const BASE64_RUN = /[A-Za-z0-9+/_-]{12,}={0,2}/g;
const LEAST_BASE64 = 12;
const isBase64 = oneOf(`${DIGITS}${LETTERS}+/_-=`);
/** Longer ones are left: they hold media. */
const MOST_BASE64 = 16_384;
/** It may begin behind other characters of its alphabet: what is read begins at one of four. */
const OFFSETS = [0, 1, 2, 3];
/** Of what is read, so much has to be text. */
const LEAST_TEXT = 0.8;
const NO_TEXT = /[^\x20-\x7e\n\r\t\u00a0-\ud7ff\ue000-\ufffc]/g;

/** What finders find in a text's tag characters: all that is written in them is one find. */
export const findInTags = (rules: readonly WindowRule[]): Finder => ({
  find: (text, isEnd) =>
    text.includes(TAG_MARK)
      ? runsIn(text, TAG_RUN, isEnd).flatMap(({ start, end }) =>
          within(rules, { start, end }, fromTags(text.slice(start, end))),
        )
      : [],
  mayFind: (text, from) => text.includes(TAG_MARK, from),
  openFrom: (text) => trailingRun(text, isTagUnit),
});

/** The same of base64, of either alphabet. */
export const findInBase64 = (rules: readonly WindowRule[]): Finder => ({
  find: (text, isEnd) =>
    runsIn(text, BASE64_RUN, isEnd).flatMap((run) => {
      if (run.end - run.start > MOST_BASE64) return [];
      const shown = text.slice(run.start, run.end);
      for (const offset of OFFSETS) {
        const said = fromBase64(shown.slice(offset));
        const found = said === undefined ? [] : within(rules, run, said);
        if (found.length > 0) return found;
      }
      return [];
    }),
  mayFind: (text, from) => text.length - from >= LEAST_BASE64,
  openFrom: (text) => trailingRun(text, isBase64),
});

type Run = Pick<Span, 'start' | 'end'>;

/** One that may go on is none yet. */
function runsIn(text: string, runs: RegExp, isEnd: boolean): readonly Run[] {
  const found: Run[] = [];
  for (const { 0: shown, index } of text.matchAll(runs)) {
    const end = index + shown.length;
    if (isEnd || end < text.length) found.push({ start: index, end });
  }
  return found;
}

/** The whole run, by the name of the first thing that stands in it. */
function within(rules: readonly WindowRule[], run: Run, said: string): readonly Span[] {
  for (const { finder, folding } of rules) {
    const [first] = finder.find(foldText(said, folding).text, true);
    if (first !== undefined) return [{ ...run, kind: first.kind }];
  }
  return [];
}

const fromTags = (run: string): string =>
  String.fromCodePoint(...[...run].map((character) => (character.codePointAt(0) ?? 0) - TAG_BASE));

function fromBase64(shown: string): string | undefined {
  const said = Buffer.from(shown, 'base64').toString('utf8');
  const strange = said.match(NO_TEXT)?.length ?? 0;
  return said.length - strange >= LEAST_TEXT * said.length ? said : undefined;
}
