import { DIGITS, type Finder, LETTERS, oneOf, type Span, trailingRun } from '../span';

const MAX_LOCAL = 64;
/** Local part, `@` and domain. Source: RFC 5321, 4.5.3.1. */
const MAX_LENGTH = 320;
const isLocal = oneOf(`${DIGITS}${LETTERS}.!#$%&'*+/=?^_\`{|}~-`);
const isDomain = oneOf(`${DIGITS}${LETTERS}.-`);
const isEdge = oneOf(`.'`);
const TOP_LEVEL = /\.(?:[a-zA-Z]{2,24}|xn--[a-zA-Z0-9-]{1,59})$/;

/** Addresses as people write them: `name@example.com`. */
export const findEmails: Finder = {
  find(text, isEnd) {
    const spans: Span[] = [];
    for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
      const span = spanAround(text, at, isEnd);
      if (span !== undefined) spans.push(span);
    }
    return spans;
  },
  openFrom(text) {
    const domain = trailingRun(text, isDomain, MAX_LENGTH);
    const isAddress = text[domain - 1] === '@';
    const local = localStart(text, isAddress ? domain - 1 : text.length);
    return local ?? text.length;
  },
};

/** Where the name before an `@` begins; undefined where it is none, or too long to be one. */
function localStart(text: string, at: number): number | undefined {
  let start = at;
  while (start > 0 && at - start <= MAX_LOCAL && isLocal(text.charCodeAt(start - 1))) start--;
  if (at - start > MAX_LOCAL) return undefined;
  while (start < at && isEdge(text.charCodeAt(start))) start++;
  return start;
}

function spanAround(text: string, at: number, isEnd: boolean): Span | undefined {
  const start = localStart(text, at);
  if (start === undefined || start === at) return undefined;
  let end = at + 1;
  while (end < text.length && end - at < 256 && isDomain(text.charCodeAt(end))) end++;
  if (end === text.length && !isEnd) return undefined;
  const domain = text.slice(at + 1, end).replace(/[.-]{1,256}$/, '');
  if (!TOP_LEVEL.test(domain) || domain.includes('..') || /^[.-]/.test(domain)) return undefined;
  return { start, end: at + 1 + domain.length, kind: 'email' };
}
