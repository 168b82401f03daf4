import { parse } from 'tldts';
import { type Detector, DIGITS, LETTERS, oneOf, type Span, trailingRun } from '../span';

const MAX_LOCAL = 64;
const MAX_DOMAIN = 255;
/** Local part, `@` and domain. Source: RFC 5321, 4.5.3.1. */
const MAX_LENGTH = 320;
const isPlainLocal = oneOf(`${DIGITS}${LETTERS}.!#$%&'*+/=?^_\`{|}~-`);
/** User of repository URLs: `git@github.com`. */
const REPOSITORY = 'git';
/** Letters of scripts with spaces between words. Source: RFC 6531. */
const isLocal = (code: number): boolean => isPlainLocal(code) || (code >= 0xc0 && code <= 0x52f);
const isAsciiDomain = oneOf(`${DIGITS}${LETTERS}.-`);
/** A hyphen that breaks no line is one, too. */
const HYPHEN = 0x2010;
const isPlainDomain = (code: number): boolean => isAsciiDomain(code) || code === HYPHEN;
/** Full stops of Chinese and Japanese. */
const FULL_STOP = 0x3002;
const LETTER = /[\p{L}\p{M}]/u;
/** Halves of rare letters too. Source: RFC 5890. */
const isDomain = (code: number): boolean =>
  isPlainDomain(code) ||
  (code >= 0xc0 && (LETTER.test(String.fromCharCode(code)) || (code >= 0xd800 && code < 0xe000)));
const mayBeDomain = (code: number): boolean => isDomain(code) || code === FULL_STOP;
const isEdge = oneOf(`.'`);
/** Separator of a link's parts, which names don't contain. */
const isPart = oneOf('/?&');
const TOP_LEVEL = /\.(?:[a-zA-Z]{2,24}|xn--[a-zA-Z0-9-]{1,59}|[\u00c0-\uffff]{2,24})$/;

/** Addresses as people write them: `name@example.com`. */
export const findEmails: Detector = {
  find(text, isEnd) {
    const spans: Span[] = [];
    for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
      const span = spanAround(text, at, isEnd);
      if (span !== undefined) spans.push(span);
    }
    return spans;
  },
  mayFind: (text, from) => text.includes('@', from),
  openFrom(text) {
    const domain = trailingRun(text, mayBeDomain, MAX_LENGTH);
    return leastStart(text, text[domain - 1] === '@' ? domain - 1 : text.length);
  },
};

/** Earliest start of the name before an `@`, for any later text. */
function leastStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && at - start < MAX_LOCAL && isLocal(text.charCodeAt(start - 1))) {
    if (isPart(text.charCodeAt(start - 1))) break;
    start--;
  }
  return start;
}

/** Start of the name before an `@`: after the key of `key=name@…` in a query; the end of an overlong name. */
function localStart(text: string, at: number): number {
  let start = leastStart(text, at);
  const before = text[start - 1];
  if (at - start < MAX_LOCAL && (before === '?' || before === '&')) {
    const mark = text.slice(start, at).indexOf('=');
    if (mark >= 0) start += mark + 1;
  }
  while (start < at && isEdge(text.charCodeAt(start))) start++;
  return start;
}

function spanAround(text: string, at: number, isEnd: boolean): Span | undefined {
  const start = localStart(text, at);
  if (start === at || text.slice(start, at) === REPOSITORY) return undefined;
  const [wide, plain] = [domainEnd(text, at + 1, isDomain), domainEnd(text, at + 1, isPlainDomain)];
  const widest = domainEnd(text, at + 1, mayBeDomain);
  if (widest === text.length && !isEnd) return undefined;
  // Words of scripts without spaces may follow directly.
  const domain =
    domainOf(text.slice(at + 1, wide)) ??
    domainOf(text.slice(at + 1, plain)) ??
    knownDomainOf(text.slice(at + 1, plain).replace(AFTER_HYPHEN, '')) ??
    knownDomainOf(text.slice(at + 1, widest).replaceAll('。', '.'));
  return domain === undefined ? undefined : { start, end: at + 1 + domain.length, kind: 'email' };
}

function domainEnd(text: string, from: number, takes: (code: number) => boolean): number {
  let end = from;
  while (end < text.length && end - from < MAX_DOMAIN && takes(text.charCodeAt(end))) end++;
  return end;
}

/** `com-x`: text after the last label's hyphen isn't part of the address. */
const AFTER_HYPHEN = /[-\u2010][^.]{0,64}$/;

/** With an end that is given out. */
function knownDomainOf(shown: string): string | undefined {
  const domain = domainOf(shown);
  return domain !== undefined && parse(domain).isIcann === true ? domain : undefined;
}

function domainOf(shown: string): string | undefined {
  const domain = shown.replace(/[.\u2010-]{1,256}$/, '');
  return TOP_LEVEL.test(domain) && !domain.includes('..') && !/^[.-]/.test(domain) ? domain : undefined;
}
