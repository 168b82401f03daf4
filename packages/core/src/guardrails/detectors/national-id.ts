import { validate as isCpf } from 'stdnum/lib/esm/br/cpf';
import { validate as isRic } from 'stdnum/lib/esm/cn/ric';
import { validate as isIdnr } from 'stdnum/lib/esm/de/idnr';
import { validate as isDni } from 'stdnum/lib/esm/es/dni';
import { validate as isNie } from 'stdnum/lib/esm/es/nie';
import { validate as isNir } from 'stdnum/lib/esm/fr/nir';
import { validate as isAadhaar } from 'stdnum/lib/esm/in/aadhaar';
import { validate as isCodiceFiscale } from 'stdnum/lib/esm/it/codicefiscale';
import { validate as isBsn } from 'stdnum/lib/esm/nl/bsn';
import { validate as isPesel } from 'stdnum/lib/esm/pl/pesel';
import { validate as isPersonnummer } from 'stdnum/lib/esm/se/personnummer';
import { validate as isSsn } from 'stdnum/lib/esm/us/ssn';
import { type Detector, isAlphanumeric, isDigit, type Span, trailingRun } from '../span';
import { isFraction, openDigits } from './digit-runs';
import { inPlainText } from './plain-text';

interface NationalId {
  readonly shape: RegExp;
  readonly isValid: (shown: string) => { readonly isValid: boolean };
  /** Words that must precede an unseparated number, because too many numbers are valid. */
  readonly named?: RegExp;
}

/** Letters may replace its digits. */
const CODICE_FISCALE: NationalId = {
  shape: /(?<!\w)[A-Za-z]{6}\w\w[A-EHLMPRSTa-ehlmprst]\w\w[A-Za-z]\w{3}[A-Za-z](?!\w)/g,
  isValid: isCodiceFiscale,
};
const WITHOUT_DIGITS: readonly NationalId[] = [CODICE_FISCALE];

/** Ten countries' numbers that have check digits, and the United States'. Source: each country's own rules, as `stdnum` has them. */
const IDS: readonly NationalId[] = [
  { shape: /(?<![\w.-])\d{3}[. ]?\d{3}[. ]?\d{3}[- ]?\d{2}(?!\w)/g, isValid: isCpf },
  { shape: /(?<!\w)\d{17}[\dXx](?!\w)/g, isValid: isRic },
  { shape: /(?<![\w.-])\d{2} ?\d{3} ?\d{3} ?\d{3}(?!\w)/g, isValid: isIdnr },
  { shape: /(?<!\w)\d{8}[- ]?[A-Za-z](?!\w)/g, isValid: isDni },
  { shape: /(?<!\w)[XYZxyz][- ]?\d{7}[- ]?[A-Za-z](?!\w)/g, isValid: isNie },
  { shape: /(?<!\w)[12] ?\d{2} ?\d{2} ?(?:\d{2}|2[ABab]) ?\d{3} ?\d{3} ?\d{2}(?!\w)/g, isValid: isNir },
  // `2024-0815-4711` is an invoice of that year, unless its name says otherwise.
  { shape: /(?<![\w-])(?!20[0-4]\d-)\d{4}[ -]?\d{4}[ -]?\d{4}(?![\w-])/g, isValid: isAadhaar },
  { shape: /(?<=\b(?:aadhaa?r|uid(?:ai)?)\b[^\d\n]{0,32})20[0-4]\d-\d{4}-\d{4}(?![\w-])/gi, isValid: isAadhaar },
  CODICE_FISCALE,
  {
    shape: /(?<![\w.-])\d{4}[. ]?\d{2}[. ]?\d{3}(?!\w)/g,
    isValid: isBsn,
    named: /(?:bsn|burger|sofi|citizen|personal|national|identi|social|persoon|tax|\bid\b|\bssn\b)[^\d\n]{0,32}$/i,
  },
  { shape: /(?<!\w)\d{11}(?!\w)/g, isValid: isPesel },
  {
    // No check digit: the hyphens identify it.
    shape: /(?<![\w.-])\d{3}(-?)\d{2}\1\d{4}(?![\w-])/g,
    isValid: isGivenSsn,
    named: /(?:\bssn\b|social[ -]security)[^\d\n]{0,32}$/i,
  },
  // After its name and a dash, which elsewhere continues a longer number.
  { shape: /(?<=\bssn ?-)\d{3}(-?)\d{2}\1\d{4}(?![\w-])/gi, isValid: isGivenSsn },
  // Identified by blanks, without adjacent numbers: lists contain numbers of all lengths.
  { shape: /(?<![\w.,+-])(?<!\d {1,3})\d{3} \d{2} \d{4}(?![\w-]| {1,2}\d)/g, isValid: isGivenSsn },
  { shape: /(?<![\w-])(?:\d{2})?\d{6}[-+]\d{4}(?!\w)/g, isValid: isPersonnummer },
];
/** No number ends with 0000. Source: Social Security Administration, POMS RM 10201.035. */
function isGivenSsn(shown: string): { readonly isValid: boolean } {
  return { isValid: !shown.endsWith('0000') && isSsn(shown).isValid };
}

/** Side by side in each of them: `X1234567L`. */
const LEAST_DIGITS = 7;
const MOST_DIGITS = 18;
const LONGEST_WORD = 18;
const isSeparator = (code: number): boolean => code === 32 || code === 45 || code === 46 || code === 43;

const ONLY_DIGITS = /^\d+$/;
const LOOK_BACK = 48;
const before = (text: string, index: number): string => text.slice(Math.max(0, index - LOOK_BACK), index);

/** Numbers by which states know people. */
export const findNationalIds: Detector = inPlainText({
  find(text, isEnd) {
    const spans: Span[] = [];
    for (const { shape, isValid, named } of hasNumber(text) ? IDS : WITHOUT_DIGITS) {
      for (const { 0: found, index } of text.matchAll(shape)) {
        const end = index + found.length;
        if (end === text.length && !isEnd) continue;
        const isTold = named === undefined || !ONLY_DIGITS.test(found) || named.test(before(text, index));
        if (isTold && !isFraction(text, index) && isValid(found).isValid)
          spans.push({ start: index, end, kind: 'national_id' });
      }
    }
    return spans;
  },
  // Letters alone are longer than a long run.
  mayFind: (_text, _from, traits) => traits.hasDigit || traits.hasLongRun,
  openFrom(text) {
    const word = trailingRun(text, isAlphanumeric, LONGEST_WORD + 1);
    const openWord = text.length - word > LONGEST_WORD ? text.length : word;
    return Math.min(openWord, openNumber(text));
  },
});

/** True for enough adjacent digits with at most one separator between two. */
function hasNumber(text: string): boolean {
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) digits++;
    else if (!isSeparator(code) || isSeparator(text.charCodeAt(at - 1))) digits = 0;
    if (digits === LEAST_DIGITS) return true;
  }
  return false;
}

/** Start of digits that may continue, with a letter near the end or a `+` inside. */
function openNumber(text: string): number {
  let end = text.length;
  for (let skipped = 0; skipped < 4 && end > 0 && !isDigit(text.charCodeAt(end - 1)); skipped++) {
    const code = text.charCodeAt(end - 1);
    if (!isAlphanumeric(code) && !isSeparator(code)) return text.length;
    end--;
  }
  const start = openDigits(text.slice(0, end), MOST_DIGITS);
  if (start === end) return text.length;
  // `X-1234567-`, `19 800101+12`.
  let before = start;
  for (let steps = 0; steps < 12 && before > 0; steps++) {
    const code = text.charCodeAt(before - 1);
    if (!isAlphanumeric(code) && !isSeparator(code)) break;
    before--;
  }
  return before;
}
