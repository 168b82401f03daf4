import { type Detector, DIGITS, isDigit, LETTERS, oneOf, type Span, trailingRun } from '../span';
import { isLink, MAX_CONNECTION } from './connection-string';
import { namedPasswords } from './named-password';
import { beginsKey, keyWithin, kindByHead, kindByShape } from './secret-shapes';

const isToken = oneOf(`${DIGITS}${LETTERS}_-.+/=:~$%`);
/** Thresholds for a random-looking token: length, entropy, and share of changes between kinds of characters. */
const CHANCE = { least: 24, bits: 3.6, changes: 0.33 } as const;
/** Words before a secret; they lower the threshold. */
const NAMED_SECRET =
  /(?:api[_-]?key|apikey|access[_-]?key|secret|token|passw(?:or)?d|pwd|credential|bearer|authorization)[\w-]{0,12}["']?(?:\s{0,2}[:=]{1,2}>?\s{0,2}|\s{1,2})["']?$/i;
/** A session's id is one where a browser sends it. */
const COOKIE = /\bcookie["']?:\s{0,2}["']?[\w-]{0,8}sess(?:ion)?[\w-]{0,8}=$/i;
/** Shorter ones are nothing. */
const SHORTEST = 16;
/** Full stops and colons after a token, which aren't part of it. */
const MOST_STOPS = 3;
/** Pictures and documents in base64. */
const EMBEDDED = /base64,$|^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|JVBERi)/;
const LOOK_BACK = 48;
const COLON = 58;
const EQUALS = 61;
/** Characters of a token that classify it. */
const MOST_COUNTED = 4096;

/** Keys of vendors, tokens, passwords by their name, and long strings that look like chance. */
export const findTokens: Detector = {
  find(text, isEnd) {
    const spans: Span[] = [];
    // Each is decided alone: an open match of another detector still overlaps with this one.
    const openToken = isEnd ? Number.POSITIVE_INFINITY : trailingRun(text, isToken);
    for (const { start, end } of tokensOf(text)) {
      if (end - start < SHORTEST) continue;
      if (end >= openToken) continue;
      const whole = spanOf(text, start, end);
      if (whole !== undefined) spans.push(whole);
      else spans.push(...[...partsOf(text, start, end)].flatMap((part) => spanOf(text, part.start, part.end) ?? []));
    }
    spans.push(...namedPasswords(text, isEnd));
    return spans;
  },
  // A password may be shorter, and has a digit.
  mayFind: (_text, _from, traits) => traits.hasDigit || traits.hasLongRun,
  openFrom: (text) => Math.min(trailingRun(text, isToken), trailingRun(text, isLink, MAX_CONNECTION)),
};

/** Between escapes of an address: `%20sk-…` is a blank and a key. */
function* partsOf(
  text: string,
  start: number,
  end: number,
): Generator<{ readonly start: number; readonly end: number }> {
  const token = text.slice(start, end);
  let from = start;
  for (let mark = token.indexOf('%'); mark !== -1; mark = token.indexOf('%', mark + 1)) {
    const at = start + mark;
    if (!/^%[0-9a-f]{2}/i.test(text.slice(at, at + 3))) continue;
    if (at - from >= SHORTEST) yield { start: from, end: at };
    from = at + 3;
  }
  if (from > start && end - from >= SHORTEST) yield { start: from, end };
}

function spanOf(text: string, start: number, end: number): Span | undefined {
  const key = keyOf(text, start, end);
  return key && { start: start + key.at, end: start + lengthOf(text.slice(start, end)), kind: key.kind };
}

function* tokensOf(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (let start = 0; start < text.length; start++) {
    if (!isToken(text.charCodeAt(start))) continue;
    let end = start + 1;
    while (end < text.length && isToken(text.charCodeAt(end))) end++;
    if (end - start >= SHORTEST) yield* cutAtMarks(text, start, end);
    start = end;
  }
}

/** `key=value` and `a:b` are two tokens, where the first does not begin a key; a token ends before the full stop of its sentence. */
function* cutAtMarks(
  text: string,
  start: number,
  end: number,
): Generator<{ readonly start: number; readonly end: number }> {
  let from = start;
  for (let at = start; at <= end; at++) {
    const mark = at === end ? COLON : text.charCodeAt(at);
    const isAssignment = mark === COLON || (mark === EQUALS && at + 1 < end && text.charCodeAt(at + 1) !== EQUALS);
    if (!isAssignment || (at < end && goesOn(text, from, at, end))) continue;
    if (at > from) yield { start: from, end: at };
    from = at + 1;
  }
}

/** Some keys have such a mark in them. */
function goesOn(text: string, from: number, at: number, end: number): boolean {
  const length = at - from;
  if (text[at] === ':') return length >= 8 && length <= 10 && end - at > 35 && hasOnlyDigits(text, from, at);
  return length === 15 ? text.startsWith('_gitlab_session', from) : beginsKey(text, from, at, end);
}

function hasOnlyDigits(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isDigit(text.charCodeAt(at))) return false;
  return true;
}

function lengthOf(token: string): number {
  let end = token.length;
  while (end > 0 && token.length - end < MOST_STOPS && (token[end - 1] === '.' || token[end - 1] === ':')) end--;
  return end;
}

/** Position of the secret in a token: all of it, or the part after a mark. */
function keyOf(text: string, start: number, end: number): { readonly at: number; readonly kind: string } | undefined {
  const token = text.slice(start, start + lengthOf(text.slice(start, end)));
  const known = kindByHead(token) ?? kindByShape(token);
  if (known !== undefined) return { at: 0, kind: known };
  const before = text.slice(Math.max(0, start - LOOK_BACK), start);
  const isEmbedded = EMBEDDED.test(before) || EMBEDDED.test(token.slice(0, 12));
  if (isEmbedded) return undefined;
  const key = keyWithin(token);
  const shown = token.slice(0, MOST_COUNTED);
  const isChance = !isIdentifier(shown) && looksSecret(shown, before);
  // A key counts in identifiers too; random text doesn't.
  return isChance ? { at: 0, kind: key?.kind ?? 'token' } : key;
}

function looksSecret(token: string, before: string): boolean {
  const isNamed = () => NAMED_SECRET.test(before) || COOKIE.test(before);
  if (!token.includes('%')) return looksLikeChance(token) || (isNamedSecret(token) && isNamed());
  // `%2F` has a digit and a capital letter, and is neither.
  const plain = token.replace(ESCAPE, '');
  if (isNamedSecret(token) && isNamedSecret(plain) && isNamed()) return true;
  return !hasWords(plain) && looksLikeChance(plain) && (token.match(ESCAPE) ?? []).every((one) => IN_BASE64.test(one));
}

const ESCAPE = /%[0-9a-f]{2}/gi;
/** `+`, `/` and `=`. Around other escapes there are words, judged each. */
const IN_BASE64 = /%2b|%2f|%3d/i;

/** Vendors' ids of messages and runs, marked digests, and blockchain accounts: these are public. */
const IDENTIFIER =
  /^(?:(?:toolu|srvtoolu|call|msg|resp|req|run|thread|asst|step|batch|fc|rs|ws|fs|ci|ig|cmpl|evt|item|file|gen)_[A-Za-z0-9]{8,80}|(?:chatcmpl|cmpl|file|gen|msg)-[A-Za-z0-9]{8,80}|sha(?:1|224|256|384|512)-[A-Za-z0-9+/]{27,88}={0,2}|0x[0-9a-fA-F]{40})$/;
/** Words written as one, and how many letters each has. */
const JOINED_WORDS = /^[A-Za-z0-9_-]+$/;
const LEAST_WORD = 3.5;

const isIdentifier = (token: string): boolean => IDENTIFIER.test(token) || hasWords(token);

/** `getUserAccountByIdV2FromDatabase`: chance has shorter words, and more digits among them. */
function hasWords(token: string): boolean {
  if (!JOINED_WORDS.test(token)) return false;
  const words = token.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? [];
  const digits = words.filter((word) => isDigit(word.charCodeAt(0)));
  return digits.length <= 2 && token.length / Math.max(1, words.length - digits.length) >= LEAST_WORD;
}

/** Digits and letters without a word's or a path's marks among them. */
function isNamedSecret(token: string): boolean {
  return /\d/.test(token) && /[a-zA-Z]/.test(token) && /^[\w+=~$%-]{16,1000}$/.test(token) && bitsOf(token) >= 3;
}

/** Letters of both cases and digits, as evenly spread as chance spreads them. Hexadecimal ones are ids and digests. */
function looksLikeChance(token: string): boolean {
  if (token.length < CHANCE.least || !/\d/.test(token) || !/[a-z]/.test(token) || !/[A-Z]/.test(token)) return false;
  if (/[/.]/.test(token) && !/^[A-Za-z0-9+/=_-]{40,}$/.test(token)) return false;
  return changesOf(token) >= CHANCE.changes && bitsOf(token) >= CHANCE.bits;
}

/** Counts changes between kinds of characters (case, digit, mark). */
function changesOf(token: string): number {
  let changes = 0;
  let last = -1;
  for (let at = 0; at < token.length; at++) {
    const code = token.charCodeAt(at);
    const kind = isDigit(code) ? 0 : code >= 97 && code <= 122 ? 1 : code >= 65 && code <= 90 ? 2 : 3;
    if (last >= 0 && kind !== last) changes++;
    last = kind;
  }
  return changes / (token.length - 1);
}

/** Entropy in bits per character. */
function bitsOf(token: string): number {
  const counts = new Map<string, number>();
  for (const character of token) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / token.length) * Math.log2(count / token.length);
  return bits;
}
