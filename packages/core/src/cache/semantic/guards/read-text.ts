import { withoutEnd } from '../../../text/without-end';
import { replacePhrases } from '../english/rewrites';
import { FRAMES, PHRASAL_VERBS, ROMAN_NUMERALS, SPELLINGS } from '../english/word-lists';
import { canonicalWord } from './canonical-word';
import { type QuestionKind, readQuestion } from './read-question';
import { readScope, type ScopeMarks } from './scope-marks';
import { PhraseTable } from './word-phrases';
import { type ContentWord, LITERAL_START, type Literal, type WordKind, WordReader } from './word-reader';

/** Features of a text that the guards compare. */
export interface TextFeatures {
  readonly words: readonly ContentWord[];
  readonly question: QuestionKind;
  /** The stem right after each negation; empty where nothing follows. */
  readonly denied: readonly string[];
  /** A direction at the end of a phrase, without an object. */
  readonly stranded: string;
  /** "by" or "by whom" asks for the agent. */
  readonly asksDoer: boolean;
  /** "What do owls eat?" against "What eats owls?". */
  readonly hasDo: boolean;
  /** Numbers with the unit right after them. */
  readonly measures: readonly string[];
  /** "This or that?" */
  readonly hasChoice: boolean;
  /** "This and that." */
  readonly hasSum: boolean;
  readonly scope: ScopeMarks;
}

export interface ReadOptions {
  /** Quoted text counts as a literal; otherwise as words. */
  readonly quotes: boolean;
  /** Text after a colon or line break is a literal. */
  readonly payload: boolean;
}

const MAX_LITERALS = 1000;
/** One after the other. */
const TABLES = [new PhraseTable(SPELLINGS), new PhraseTable([...FRAMES, ...PHRASAL_VERBS])];

const QUOTED = /"([^"]{1,2000}?)"|(?<![\p{L}\p{N}])'([^']{2,200}?)'(?![\p{L}\p{N}])/gu;
const PAYLOAD = /^([^\n]*?\p{L}[^\n]*?)(?::\s+|\n\s*)(\S+\s+\S+\s+\S[\s\S]*)$/u;

/** Normalizes quotes and blanks. */
export function tidyText(text: string): string {
  return plainSigns(text)
    .normalize('NFKC')
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’`´](?=\p{L}{1,2}\b)/gu, (mark) => (mark === '`' ? mark : "'"))
    .trim();
}

const SIGNS = /[²³→⇒−×÷&]|->|\bw\/|\bU\.?S\b|\b(?:divided|multiplied) by\b/i;

/** Normalizes signs and abbreviations. */
function plainSigns(text: string): string {
  if (!SIGNS.test(text)) return text;
  return text
    .replace(/\b([ckm]?m|ft|mi)[²]/gi, 'square $1')
    .replace(/²/g, '^2')
    .replace(/³/g, '^3')
    .replace(/−/g, '-')
    .replace(/(?<=[\p{L}\p{N})]) ?(?:-{1,2}>|[→⇒]) ?(?=[\p{L}\p{N}(])/gu, ' to ')
    .replace(/\bw\/o\b/gi, 'without')
    .replace(/\bw\/(?=\s)/gi, 'with')
    .replace(/(\d[\d.,/]{0,40}) ?(?:÷|divided by) ?(?=\d)/gi, 'divide $1 by ')
    .replace(/(?<=\d) ?(?:×|multiplied by) ?(?=\d)/gi, ' × ')
    .replace(/\bU\.?S\.?(?:A\b\.?)?(?![\p{L}$])/gu, 'USA')
    .replace(/(?<=\p{L}) & (?=\p{L})/gu, ' and ');
}

/** Quoted parts of a normalised text. */
export function quotesIn(text: string): readonly string[] {
  if (!/["']/.test(text)) return [];
  return [...text.matchAll(QUOTED)].map((match) => match[1] ?? match[2] ?? '');
}

/** True if the text has a payload after a colon or line break. */
export const hasPayload = (text: string): boolean =>
  /:\s|\n/.test(text) && PAYLOAD.test(text.includes('"') ? text.replace(QUOTED, ' "" ') : text);

/** Reads a tidied text. */
export function readText(text: string, options: ReadOptions): TextFeatures {
  const literals: Literal[] = [];
  const keep = (kind: WordKind, literal: string): string => {
    if (literals.length >= MAX_LITERALS) return literal;
    literals.push({
      text: withoutEnd(
        literal
          .replace(/[\ue000-\uf8ff]/g, (mark) => literals[mark.charCodeAt(0) - LITERAL_START]?.text ?? mark)
          .trim(),
        /[.,;:!?]/,
      ).replace(/\s+/g, ' '),
      kind,
    });
    return ` ${String.fromCharCode(LITERAL_START + literals.length - 1)} `;
  };
  let rest = !text.includes('`')
    ? text
    : text.replace(/```[^\n]*\n?([\s\S]*?)```|`([^`]+)`/g, (_, block?: string, span?: string) =>
        keep('code', block ?? span ?? ''),
      );
  if (options.quotes) rest = rest.replace(QUOTED, (_, a?: string, b?: string) => keep('quote', a ?? b ?? ''));
  if (options.payload)
    rest = rest.replace(PAYLOAD, (_, head: string, body: string) => `${head} , ${keep('quote', body)}`);
  rest = rest.replace(COMPARED, (_, left: string, sign: string) => `${left} ${keep('code', sign)}`);
  if (SYMBOL.test(rest)) {
    rest = rest.replace(/\S+/g, (token) => (SYMBOL.test(token) ? keepSymbols(token, keep) : token));
  }
  const names = namesIn(rest);
  rest = markMonths(markRomans(rest)).replace(LETTER_A, 'lettera').toLowerCase();
  const scope = readScope(rest);
  rest = rest.replace(IS, '$1 is');
  for (const table of TABLES) rest = table.replaceIn(rest).replace(/ {2,}/g, ' ');
  rest = replacePhrases(rest);
  const { question, text: plain } = readQuestion(rest);
  const asksDoer = /\bby (?:whom?|what|which)\b|\bby *\??$/.test(plain);
  const hasDo = /\b(?:what|which|whom?)\b.*\b(?:do|does|did)\b/.test(plain);
  const { words, denied, stranded, measures } = new WordReader(literals, names, question).read(plain);
  const hasChoice = / or /.test(plain);
  const hasSum = / and /.test(plain);
  return { question, asksDoer, hasDo, hasChoice, hasSum, scope, words, denied, stranded, measures };
}

/** "Vitamin A", "is A older than B"; not a title's article. */
const LETTER_A = /(?<=[\p{Ll}\d],? )A(?=[ ,.;:?!]|$)(?! \p{Lu}\p{Ll})/gu;

/** Contractions of "is", not possessives. */
const IS = /\b(what|how|where|who|when|why|that|there|it|here)['’]s\b/g;

/** A sign between numbers or letters of a formula. */
const COMPARED = /(\d|(?<![\p{L}\p{N}'’])\p{L}) ([<>*^÷×]) (?=\d|\p{L}(?![\p{L}\p{N}])|\()/gu;

const SYMBOL = /[_{}[\]=<>\\@|^~*+#()/]/;

/** Tokens with symbols in them are code, but for the signs of everyday writing. */
function keepSymbols(token: string, keep: (kind: WordKind, literal: string) => string): string {
  const core = withoutEnd(token, /[.,;:!?]/);
  if (/^[=<>~^|*]?$/.test(core) || /^[=-]+\??$/.test(token)) return ' ';
  if (/^(?:c|f)#$|^c\+\+$/i.test(core)) return core.toLowerCase().replace('#', 'sharp').replace('++', 'plusplus');
  if (/^\(?[\p{L}\p{N}'’.-]+\)?$/u.test(core)) return token.replace(/[()]/g, ' ');
  if (/^\p{L}+\/\p{L}+$/u.test(core) && core.length <= 9) return core;
  return keep('code', core);
}

/** Words with a capital that do not begin a sentence. */
function namesIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [, before = '', name = ''] of text.matchAll(/(\S)\s+(\p{Lu}[\p{L}\p{N}]*)/gu)) {
    if (!'.?!:'.includes(before)) names.add(canonicalWord(name.toLowerCase()));
  }
  return names;
}

function markRomans(text: string): string {
  return text
    .replace(/\b(?:[IV]+X?|IX)\b/g, (numeral) => String(ROMAN_NUMERALS.get(numeral) ?? numeral))
    .replace(/\b([Ww]ar|[Pp]art|[Cc]hapter|[Tt]ype|[Pp]hase|[Vv]olume|[Aa]ct) I\b/g, '$1 1');
}

/** `May` the month, not `may` the verb. */
function markMonths(text: string): string {
  return text
    .replace(/(?<=\S\s+)May\b(?! I\b| we\b)/g, 'may-month')
    .replace(/\b(in|of|since|until|by|early|late|last|next) may\b(?!-month)(?! (?:i|we|you)\b)/gi, '$1 may-month');
}
