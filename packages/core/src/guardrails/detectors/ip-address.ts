import { isIPv6 } from 'node:net';
import { type Detector, DIGITS, isAlphanumeric, oneOf, type Span, trailingRun } from '../span';
import { inPlainText } from './plain-text';

/** In Markdown's emphasis too: `_10.0.0.1_`. */
const IPV4 =
  /(?<![a-zA-Z0-9.]|[a-zA-Z0-9]_{1,2})(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?![a-zA-Z0-9]|\.\d)/g;
const isIpv6Character = oneOf(`${DIGITS}abcdefABCDEF:.`);
const IPV6_RUN = /(?<![\w:.])[0-9a-fA-F:.]{2,46}(?![\w:.])/g;
const MOST = 46;

/** Longest IPv4 address, and the sign that it continues. */
const MOST_V4 = 17;
const isIpv4Character = oneOf(`${DIGITS}.`);

/** Start of the last run if an address may begin there: never within a word or a longer run. */
function openRun(text: string, takes: (code: number) => boolean, most: number): number {
  const start = trailingRun(text, takes, most);
  const before = text.charCodeAt(start - 1);
  return start > 0 && (isAlphanumeric(before) || takes(before)) ? text.length : start;
}

/** Words and signs before section and version numbers, which look like addresses. */
const NUMBERED =
  /(?:\b(?:sections?|versions?|vers?|chapters?|clauses?|paragraphs?|articles?|appendix|releases?|revisions?|rev|figures?|fig|tables?|steps?|items?|rules?)\.?|\brv:|§)\s{0,2}$/i;
const LOOK_BACK = 16;
/**
 * First groups of addresses in use; others need more groups to differ from program names. Source: IANA, IPv6 address
 * space.
 */
const IPV6_BEGINNING = /^(?:[23][0-9a-f]{3}|f[cdef][0-9a-f]{2}|64:ff9b|0{0,4}):/i;
const LEAST_COLONS = 4;

/** True for a section or version number. */
export const isNumbered = (text: string, index = text.length): boolean =>
  NUMBERED.test(text.slice(Math.max(0, index - LOOK_BACK), index));

/** `a::b` and `dead::beef` are names in programs. */
const looksLikeAddress = (address: string): boolean =>
  /\d/.test(address) && (IPV6_BEGINNING.test(address) || address.split(':').length > LEAST_COLONS);

/** Addresses of both versions; a clock's time is none. */
export const findIpAddresses: Detector = inPlainText({
  find(text, isEnd) {
    const spans: Span[] = [];
    for (const { 0: found, index } of text.matchAll(IPV4)) {
      const end = index + found.length;
      // A full stop is undecided: a digit may follow.
      const isDecided = isEnd || (end < text.length && (text[end] !== '.' || end + 1 < text.length));
      if (text[end] === '_' && text[index - 1] !== '_') continue;
      if (isDecided && !isNumbered(text, index)) spans.push({ start: index, end, kind: 'ip' });
    }
    if (!text.includes(':')) return spans;
    for (const { 0: found, index } of text.matchAll(IPV6_RUN)) {
      const address = found.endsWith('::') ? found : found.replace(/[.:]$/, '');
      const isDecided = isEnd || index + found.length < text.length;
      if (isDecided && looksLikeAddress(address) && isIPv6(address))
        spans.push({ start: index, end: index + address.length, kind: 'ip' });
    }
    return spans;
  },
  mayFind: (_text, _from, { hasDigit }) => hasDigit,
  openFrom: (text) => Math.min(openRun(text, isIpv4Character, MOST_V4), openRun(text, isIpv6Character, MOST + 2)),
});
