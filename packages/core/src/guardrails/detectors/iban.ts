import { type Detector, isAlphanumeric, isDigit, type Span } from '../span';
import { inPlainText } from './plain-text';

/** Characters of a country's IBANs. Source: SWIFT, IBAN registry. */
const LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 ' +
    'FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 ' +
    'LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 ' +
    'SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
const MOST = 33;
const isLetter = (code: number): boolean => isAlphanumeric(code) && !isDigit(code);
const isSeparator = (code: number): boolean => code === 32 || code === 45 || code === 0xa0;

/** Account numbers of the countries that have IBANs, with their check digits. */
export const findIbans: Detector = inPlainText({
  find(text, isEnd) {
    const spans: Span[] = [];
    for (let start = 0; start + 4 < text.length; start++) {
      if (isWord(text, start) || !beginsIban(text, start)) continue;
      const end = endOf(text, start, LENGTHS[text.slice(start, start + 2).toUpperCase()] ?? 0);
      if (end === undefined || (end === text.length && !isEnd) || isAlphanumeric(text.charCodeAt(end))) continue;
      if (passesMod97(text.slice(start, end))) spans.push({ start, end, kind: 'iban' });
    }
    return spans;
  },
  mayFind: (_text, _from, { hasDigit }) => hasDigit,
  openFrom(text, from) {
    for (let start = Math.max(from, text.length - 2 * MOST); start < text.length; start++)
      if (!isWord(text, start) && mayOpen(text, start)) return start;
    return text.length;
  },
});

/** Most characters have a letter two places on: then none begins here. */
function isWord(text: string, start: number): boolean {
  const third = text.charCodeAt(start + 2);
  return third > 57 && third !== 0xa0;
}

const isBoundary = (text: string, start: number): boolean => start === 0 || !isAlphanumeric(text.charCodeAt(start - 1));

function beginsIban(text: string, start: number): boolean {
  if (!isLetter(text.charCodeAt(start)) || !isLetter(text.charCodeAt(start + 1)) || !isBoundary(text, start))
    return false;
  const third = isSeparator(text.charCodeAt(start + 2)) ? start + 3 : start + 2;
  return isDigit(text.charCodeAt(third)) && isDigit(text.charCodeAt(third + 1));
}

/** End of so many letters and digits, with at most one separator between two. */
function endOf(text: string, start: number, length: number): number | undefined {
  let count = 0;
  let wasSeparator = true;
  for (let at = start; at < text.length && length > 0; at++) {
    const code = text.charCodeAt(at);
    if (isAlphanumeric(code)) {
      count++;
      wasSeparator = false;
      if (count === length) return at + 1;
    } else if (wasSeparator || !isSeparator(code)) return undefined;
    else wasSeparator = true;
  }
  return undefined;
}

/** All from `start` on may be the beginning of one. */
function mayOpen(text: string, start: number): boolean {
  if (!isLetter(text.charCodeAt(start)) || !isBoundary(text, start)) return false;
  const rest = text.slice(start);
  if (!/^[a-zA-Z](?:$|[a-zA-Z](?:$|[ \u00a0-]?(?:$|\d(?:$|\d))))/.test(rest)) return false;
  const length = rest.length < 2 ? MOST : (LENGTHS[rest.slice(0, 2).toUpperCase()] ?? 0);
  if (length === 0) return false;
  let count = 0;
  let wasSeparator = false;
  for (let at = 0; at < rest.length; at++) {
    const code = rest.charCodeAt(at);
    if (isAlphanumeric(code)) count++;
    else if (wasSeparator || !isSeparator(code)) return false;
    wasSeparator = !isAlphanumeric(code);
    if (count > length || (count === length && at < rest.length - 1)) return false;
  }
  return true;
}

/** Source: ISO 13616-1, the check of ISO 7064 (mod 97-10). */
function passesMod97(shown: string): boolean {
  let plain = '';
  for (const character of shown) if (isAlphanumeric(character.charCodeAt(0))) plain += character.toUpperCase();
  let rest = 0;
  for (const character of plain.slice(4) + plain.slice(0, 4)) {
    const code = character.charCodeAt(0);
    rest = isDigit(code) ? (rest * 10 + code - 48) % 97 : (rest * 100 + code - 55) % 97;
  }
  return rest === 1;
}
