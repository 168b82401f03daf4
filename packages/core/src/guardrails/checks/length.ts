import { NOTHING_FOUND, type TextCheck } from '../check';

/** Texts of more than `max` characters (code points). */
export function checkLength({ max }: { readonly max: number }): TextCheck {
  if (!Number.isSafeInteger(max) || max < 0) throw new Error('"max" must be a whole number that is not negative');
  return {
    judge({ text }) {
      if (text.length <= max || !isLonger(text, max)) return NOTHING_FOUND;
      return { count: 1, reason: `The text must have ${max} characters at most.` };
    },
  };
}

/** A character beyond the first 65,536 is one, and two of the text's units. */
function isLonger(text: string, max: number): boolean {
  if (text.length > 2 * max) return true;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const next = text.charCodeAt(at + 1);
    if (code >= 0xd800 && code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) at++;
    if (++count > max) return true;
  }
  return false;
}
