import { type Detector, type Span, trailingRun } from '../span';

/** `postgres://user:password@host/…`. */
const CONNECTION = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/"']{0,100}:[^\s@/"']{1,200}@[^\s"'<>]{1,300}/gi;
export const isLink = (code: number): boolean => code > 32 && code !== 34 && code !== 39 && code !== 60 && code !== 62;
export const MAX_CONNECTION = 640;

/** Addresses with a password in them. */
export const findConnectionStrings: Detector = {
  find(text, isEnd) {
    const spans: Span[] = [];
    if (!text.includes('://')) return spans;
    const openLink = isEnd ? Number.POSITIVE_INFINITY : trailingRun(text, isLink, MAX_CONNECTION);
    for (const { 0: found, index } of text.matchAll(CONNECTION)) {
      // A match before the open part ends within MAX_CONNECTION, so later text can't change it.
      if (index < openLink) spans.push({ start: index, end: index + found.length, kind: 'connection_string' });
    }
    return spans;
  },
  mayFind: (text, from) => text.includes('://', from),
  openFrom: (text) => trailingRun(text, isLink, MAX_CONNECTION),
};
