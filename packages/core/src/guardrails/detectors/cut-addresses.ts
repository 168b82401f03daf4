import { foldText } from '../folded-text';
import { AHEAD, CONTEXT, hasDigit, type Span } from '../span';
import { findIpAddresses, isNumbered } from './ip-address';

/** Characters of a text beside a cut that are looked at: an address, and all that its detector sees around it. */
const SIDE = 256;
const LONGEST_ITEM = 8;
const NONE: readonly Span[] = [];
/** An item's number is no part of a number before or behind it. */
const GOES_ON = /^\.?\d(?!\d{0,2}[.)]\s)/;
const BEGAN = /\d$/;
/** Behind a word like `version` it is the number's beginning; behind any other text it ends a sentence or names an item. */
const FIRST_GROUP = /\d{1,5}\.$/;

/**
 * Addresses that exist only because the texts cut a longer number: `2.3.4.5` in `version 1.` and `2.3.4.5`. One list
 * for each text, by positions in it. Excludes IPv6 and addresses after a word.
 */
export function cutAddresses(texts: readonly string[]): readonly (readonly Span[])[] {
  if (texts.length < 2) return texts.map(() => NONE);
  const all = texts.join('');
  let from = 0;
  return texts.map((text) => {
    const found = addressesAtEdges(text).filter(({ start, end }) => {
      if (text.slice(start, end).includes(':')) return false;
      const before = all.slice(Math.max(0, from + start - CONTEXT), from + start);
      const began = BEGAN.test(before) || isNumbered(before.replace(FIRST_GROUP, ''));
      // A character after it in its own text ends it.
      return began || (end === text.length && GOES_ON.test(all.slice(from + end, from + end + LONGEST_ITEM)));
    });
    from += text.length;
    return found;
  });
}

/** Those that what stands before or behind their text may have a say in. */
function addressesAtEdges(text: string): readonly Span[] {
  const first = addressesIn(text.slice(0, SIDE), 0).filter(({ start }) => start < CONTEXT);
  const tail = Math.max(0, text.length - SIDE);
  const last = addressesIn(text.slice(tail), tail).filter(({ end }) => end + AHEAD >= text.length);
  return tail === 0 ? first.concat(last.filter(({ start }) => start >= CONTEXT)) : first.concat(last);
}

/** `at`: where the text begins in the one whose places are told. */
function addressesIn(text: string, at: number): Span[] {
  const folded = foldText(text, 'digits');
  if (!hasDigit(folded.text, 0)) return [];
  return findIpAddresses
    .find(folded.text, true)
    .map(({ start, end, kind }) => ({ start: at + folded.originOf(start), end: at + folded.endOf(end), kind }));
}
