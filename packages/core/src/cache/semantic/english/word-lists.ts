// English word lists of the guards; each file says its purpose.
import antonyms from '../../../../data/english/antonyms.txt' with { type: 'text' };
import everyday from '../../../../data/english/everyday.txt' with { type: 'text' };
import frames from '../../../../data/english/frames.txt' with { type: 'text' };
import irregular from '../../../../data/english/irregular.txt' with { type: 'text' };
import numbers from '../../../../data/english/numbers.txt' with { type: 'text' };
import phrasalVerbs from '../../../../data/english/phrasal-verbs.txt' with { type: 'text' };
import spellings from '../../../../data/english/spellings.txt' with { type: 'text' };
import synonyms from '../../../../data/english/synonyms.txt' with { type: 'text' };
import unrelated from '../../../../data/english/unrelated.txt' with { type: 'text' };
import wordnet from '../../../../data/english/wordnet.txt' with { type: 'text' };
import words from '../../../../data/english/words.txt' with { type: 'text' };
import { groupsOf, linesOf, listsOf, mapOf, numbersOf, setOf } from './read-lists';

const word = listsOf(words);
export const FILLERS = setOf(word('fillers'));
export const LIGHT = setOf(word('light'));
export const SOFT = setOf(word('soft'));
export const COUNTED = setOf(word('counted'));
export const NEGATIONS = setOf(word('negations'));
export const DIRECTIONS = setOf(word('directions'));
export const PLACES = setOf(word('places'));
export const MARKER_SYNONYMS = mapOf(word('marker-synonyms'));
export const ALIKE_MARKERS = word('alike-markers').map((line) => setOf([line]));
export const PART_OPENERS = setOf(word('part-openers'));
export const JOINTS = setOf(word('joints'));
export const LANGUAGE_NAMES = setOf(word('languages'));

const number = listsOf(numbers);
export const NUMBER_WORDS = numbersOf(number('cardinals'));
export const TENS_WORDS = numbersOf(number('tens'));
export const SCALE_WORDS = numbersOf(number('scales'));
export const ORDINALS = numbersOf(number('ordinals'));
export const ROMAN_NUMERALS = numbersOf(number('romans'));
export const DATE_WORDS = setOf(number('dates'));
export const SHORT_DATE_WORDS = mapOf(number('short-dates'));
export const UNITS = setOf(number('units'));

export const ANTONYMS = groupsOf(linesOf(antonyms));
export const SYNONYMS = groupsOf(linesOf(synonyms));
export const IRREGULAR = mapOf(linesOf(irregular));
/** Pairs of stems, as `depart department`. */
export const UNRELATED: ReadonlySet<string> = new Set(linesOf(unrelated));

/** Lines for a `PhraseTable`. */
export const SPELLINGS = linesOf(spellings);
export const FRAMES = linesOf(frames);
export const PHRASAL_VERBS = linesOf(phrasalVerbs);

/** Interchangeable words: thousands of lines, loaded on first use. */
export const readAlike = (): readonly (readonly string[])[] => groupsOf([...linesOf(wordnet), ...linesOf(everyday)]);
