import { foldText } from '../folded-text';
import { AHEAD, CONTEXT, hasDigit, type Span } from '../span';
import { findIpAddresses, isNumbered } from './ip-address';

/** Characters beside a cut to search: an address with its detector's context. */
const SIDE = 256;
const LONGEST_ITEM = 8;
const NONE: readonly Span[] = [];
/** An item's number doesn't belong to the numbers around it. */
const GOES_ON = /^\.?\d(?!\d{0,2}[.)]\s)/;
const BEGAN = /\d$/;
/** After a word like `version` it begins the number; after other text it ends a sentence or names an item. */
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

/** Addresses whose neighbours in other texts may matter. */
function addressesAtEdges(text: string): readonly Span[] {
  const first = addressesIn(text.slice(0, SIDE), 0).filter(({ start }) => start < CONTEXT);
  const tail = Math.max(0, text.length - SIDE);
  const last = addressesIn(text.slice(tail), tail).filter(({ end }) => end + AHEAD >= text.length);
  return tail === 0 ? first.concat(last.filter(({ start }) => start >= CONTEXT)) : first.concat(last);
}

/** `at`: position of the text in the whole. */
function addressesIn(text: string, at: number): Span[] {
  const folded = foldText(text, 'digits');
  if (!hasDigit(folded.text, 0)) return [];
  return findIpAddresses
    .find(folded.text, true)
    .map(({ start, end, kind }) => ({ start: at + folded.originOf(start), end: at + folded.endOf(end), kind }));
}
