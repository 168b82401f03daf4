import { withoutEnd } from '../../../text/without-end';
import {
  COUNTED,
  DATE_WORDS,
  DIRECTIONS,
  FILLERS,
  JOINTS,
  LANGUAGE_NAMES,
  LIGHT,
  MARKER_SYNONYMS,
  NEGATIONS,
  PART_OPENERS,
  PLACES,
  SHORT_DATE_WORDS,
  SOFT,
  UNITS,
} from '../english/word-lists';
import { canonicalWord } from './canonical-word';
import { addSpelledNumber, numberStem, readNumber } from './read-number';
import type { QuestionKind } from './read-question';

export type WordKind = 'quote' | 'code' | 'number' | 'date' | 'unit' | 'language' | 'name' | 'word' | 'soft' | 'light';

/** One content word, in order. */
export interface ContentWord {
  /** Stem of the word or of its synonyms; literals as they are. */
  readonly stem: string;
  readonly kind: WordKind;
  /** The marker before it: a direction (`from`), a place (`in`), `of` for owners; empty for none. */
  readonly role: string;
  /** Counts stretches between punctuation. */
  readonly segment: number;
  /** Next to `and`, `or`, `vs`. */
  joint: boolean;
}

/** A part of the text that counts literally. */
export interface Literal {
  readonly text: string;
  readonly kind: WordKind;
}

/** In the text, literal `n` is one character: the nth from here. */
export const LITERAL_START = 0xe000;

const SOFT_STEMS = new Set([...SOFT].map(canonicalWord));
const LIGHT_STEMS = new Set([...LIGHT].map(canonicalWord));
const COUNTED_STEMS = new Set([...COUNTED].map(canonicalWord));
const UNIT_STEMS = new Set([...UNITS].map(canonicalWord));
const DATE_STEMS = new Set([...DATE_WORDS].map(canonicalWord));

const TOKEN = /[\ue000-\uf8ff]|[\p{L}\p{N}°%$€£.,:;!?'’&/+-]+/gu;
const PLAIN = /^[a-z]+$/;
/** Begin a part of their own. */
const CLAUSES = new Set(['what', 'which', 'who', 'whom', 'whose', 'where', 'why', 'how', 'that']);
/** Hyphenated words that represent a phrase. */
const WHOLE = new Set(['go-language', 'like-this', 'may-month', 'say-no', 'say-yes']);

/** Reads the words of a prepared text in lower case, one after the other. */
export class WordReader {
  readonly words: ContentWord[] = [];
  /** The stem right after each negation; empty where nothing follows. */
  readonly denied: string[] = [];
  /** `to` or `from` without an object. */
  stranded = '';
  /** Numbers with the unit right after them. */
  readonly measures: string[] = [];
  private lastNumber = '';
  private hasLed = false;
  /** After "which" or "what": "which city is the capital?" asks the same as "what is the capital?". */
  private isNaming = false;
  private role = '';
  private segment = 0;
  private joint = false;
  private jointNext = false;
  private denying = false;
  private spelled: number | undefined;

  constructor(
    private readonly literals: readonly Literal[],
    private readonly names: ReadonlySet<string>,
    private readonly question: QuestionKind,
  ) {}

  read(text: string): this {
    for (const raw of text.match(TOKEN) ?? []) {
      const literal = this.literals[raw.charCodeAt(0) - LITERAL_START];
      if (literal !== undefined) {
        this.endNumber();
        this.push(`${literal.kind} ${literal.text}`, literal.kind);
      } else if (PLAIN.test(raw)) this.readPlain(raw);
      else for (const token of splitToken(raw)) this.readToken(token);
    }
    this.endNumber();
    this.endDenial();
    return this;
  }

  private readToken(token: string): void {
    if (PLAIN.test(token)) {
      this.readPlain(token);
      return;
    }
    this.endNumber();
    if (/^[.,:;!?]+$/.test(token)) {
      this.segment += 1;
      this.role = '';
      this.joint = false;
      this.endDenial();
      return;
    }
    const number = readNumber(token);
    if (number !== undefined) {
      this.push(number.stem, 'number');
      if (number.unit !== undefined) this.push(number.unit, DATE_STEMS.has(number.unit) ? 'date' : 'unit');
      return;
    }
    const owner = /^(.*[^s'])['’]s$|^(.*s)['’]$/.exec(token);
    const word = (owner?.[1] ?? owner?.[2] ?? token).replace(/['’]/g, '');
    if (owner === null || FILLERS.has(word)) this.readWord(word);
    else this.push(...this.asContent(word), DIRECTIONS.has(this.role) ? this.role : 'of');
  }

  private readPlain(word: string): void {
    const spelled = addSpelledNumber(word, this.spelled);
    if (spelled !== undefined) {
      this.spelled = spelled;
      return;
    }
    this.endNumber();
    const ordinal = readNumber(word);
    if (ordinal !== undefined) this.push(ordinal.stem, 'number');
    else this.readWord(word);
  }

  private readWord(word: string): void {
    this.stranded = '';
    if (FILLERS.has(word)) this.isNaming = word === 'which' || word === 'what';
    if (FILLERS.has(word)) this.lastNumber = '';
    if (NEGATIONS.has(word)) {
      this.endDenial();
      this.denying = true;
    }
    if (JOINTS.has(word)) {
      const last = this.words.at(-1);
      if (last !== undefined) last.joint = true;
      // "Olive oil or coconut oil": both words of each.
      const before = this.words.at(-2);
      if (word === 'or' && before !== undefined && before.role === last?.role && last.role === '') before.joint = true;
      this.joint = true;
      this.jointNext = word === 'or' && this.role === '';
    }
    // "When is it?" asks; "when it is" leads a part.
    const asks = word === this.question || CLAUSES.has(word);
    const marker = asks ? '' : (MARKER_SYNONYMS.get(word) ?? word);
    const isMarker = DIRECTIONS.has(marker) || PLACES.has(marker);
    if (PART_OPENERS.has(word) && this.hasLed && !this.joint) this.role = '';
    if (isMarker) {
      this.role = marker;
      this.hasLed = false;
      this.stranded = marker === 'to' || marker === 'from' ? marker : '';
    }
    if (asks) this.role = '';
    if (word === '' || NEGATIONS.has(word) || FILLERS.has(word)) return;
    this.push(...this.asContent(word), isMarker ? '' : this.role);
  }

  private asContent(word: string): [stem: string, kind: WordKind] {
    const stem = canonicalWord(SHORT_DATE_WORDS.get(word) ?? word);
    const isNaming = this.isNaming;
    this.isNaming = false;
    if (LIGHT_STEMS.has(stem)) return [stem, 'light'];
    if (SOFT_STEMS.has(stem)) return [stem, 'soft'];
    if (DATE_STEMS.has(stem) || word === 'may-month') return [stem, 'date'];
    if (UNIT_STEMS.has(stem)) return [stem, 'unit'];
    if (LANGUAGE_NAMES.has(word)) return [stem, 'language'];
    if (this.names.has(stem)) return [stem, 'name'];
    return [stem, isNaming ? 'soft' : 'word'];
  }

  private push(stem: string, read: WordKind, role = this.role): void {
    const kind = this.isCounted(stem) ? 'word' : read;
    if (kind === 'unit' && this.lastNumber !== '') this.pushMeasure(stem);
    this.lastNumber = kind === 'number' ? stem : '';
    this.hasLed = true;
    this.words.push({ stem, kind, role, segment: this.segment, joint: this.joint });
    if (this.denying) this.denied.push(stem);
    this.denying = false;
    this.joint = this.jointNext;
    this.jointNext = false;
    this.stranded = '';
  }

  /** "Three ideas" aren't "three reasons": counted nouns matter. */
  private isCounted(stem: string): boolean {
    return COUNTED_STEMS.has(stem) && /^#\d{1,2}$/.test(this.lastNumber);
  }

  /** "1 pound" is "a pound", "one pound". */
  private pushMeasure(unit: string): void {
    const last = this.words.at(-1);
    if (last?.stem === '#1') this.words[this.words.length - 1] = { ...last, kind: 'light' };
    else this.measures.push(`${this.lastNumber} ${unit}`);
  }

  private endNumber(): void {
    const value = this.spelled;
    this.spelled = undefined;
    if (value !== undefined) this.push(numberStem(value), 'number');
  }

  private endDenial(): void {
    if (this.denying) this.denied.push('');
    this.denying = false;
  }
}

/** Punctuation, hyphens and slashes part words; numbers, dates and versions stay whole. */
function splitToken(raw: string): readonly string[] {
  const head = withoutEnd(raw, /[.,:;!?]/);
  const tail = raw.slice(head.length);
  const end = tail === '' ? [] : [tail];
  if (head === '' || /^[-+/&']+$/.test(head)) return end;
  if (WHOLE.has(head) || /^[$€£]?\d[\d.,:/-]*(?:%|°?\p{L}{1,3})?$/u.test(head)) return [head, ...end];
  return [...head.split(/[-/.,:;!?&+]+/).filter((part) => part !== ''), ...end];
}
