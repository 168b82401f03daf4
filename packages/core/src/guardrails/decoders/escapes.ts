const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
const HEX = /^[0-9a-fA-F]{4}$/;
const HEX_DIGITS = 4;
const BACKSLASHES = '\\\\';
/** Limit before an escape: five levels of JSON use sixteen. */
const MOST_BACKSLASHES = 32;
/** Characters that several backslashes may escape; before a quote, backslashes stand for themselves. */
const DEEP: ReadonlySet<string> = new Set([...Object.keys(ESCAPES), '/']);

/** 0 if more text is needed. Nested JSON repeats backslashes; the innermost meaning counts. */
export function lengthOfEscape(text: string, at: number): number {
  let behind = at + 1;
  while (text[behind] === '\\' && behind - at < MOST_BACKSLASHES) behind++;
  if (behind >= text.length) return 0;
  const name = text[behind] ?? '';
  if (name === 'u') {
    const digits = text.slice(behind + 1, behind + 1 + HEX_DIGITS);
    if (HEX.test(digits)) return behind + 1 + HEX_DIGITS - at;
    return digits.length < HEX_DIGITS && /^[0-9a-fA-F]*$/.test(digits) && behind + 1 + digits.length === text.length
      ? 0
      : 2;
  }
  return DEEP.has(name) ? behind + 1 - at : 2;
}

/** Character of one escape. */
export function unescaped(written: string): string {
  if (written === BACKSLASHES) return '\\';
  const name = written.slice(written.lastIndexOf('\\') + 1);
  if (name.length > HEX_DIGITS) return String.fromCharCode(Number.parseInt(name.slice(1), 16));
  return ESCAPES[name] ?? name;
}

/** Unescaped text. */
export interface UnescapedText {
  readonly text: string;
  /** Length of the original read; an incomplete escape doesn't count. */
  readonly length: number;
}

/** `onRun` receives each run of characters with their original length. */
export function unescapeText(original: string, onRun?: (characters: number, written: number) => void): UnescapedText {
  let text = '';
  let from = 0;
  const addPlain = (to: number) => {
    if (to === from) return;
    text += original.slice(from, to);
    onRun?.(to - from, 1);
  };
  for (let at = original.indexOf('\\'); at >= 0; at = original.indexOf('\\', from)) {
    const length = lengthOfEscape(original, at);
    addPlain(at);
    from = at;
    if (length === 0) return { text, length: at };
    text += unescaped(original.slice(at, at + length));
    onRun?.(1, length);
    from = at + length;
  }
  addPlain(original.length);
  return { text, length: original.length };
}

/** Unescapes a whole text, as a window does. */
export function decodeEscapes(original: string): string {
  const { text, length } = unescapeText(original);
  // An incomplete escape is literal.
  return text + original.slice(length);
}
