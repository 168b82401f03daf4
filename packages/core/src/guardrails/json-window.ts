import type { WindowRule } from './rule-search';
import { type Replace, TextWindow } from './text-window';

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
const HEX = /^[0-9a-fA-F]{4}$/;
const HEX_DIGITS = 4;
const BACKSLASHES = '\\\\';
/** Before what an escape names: five levels of JSON have sixteen. */
const MOST_BACKSLASHES = 32;
/** What several backslashes may name together; before a quote they stand for themselves. */
const DEEP: ReadonlySet<string> = new Set([...Object.keys(ESCAPES), '/']);

/** How what takes a place is written: in a JSON text, or in one that only has escapes in it. */
export type EscapedText = 'json' | 'loose';

/**
 * JSON text in pieces, judged by what its escapes stand for; what stays goes on as it was written. What takes a place is
 * escaped, and quoted where it stands for a number.
 */
export class JsonWindow {
  private readonly window: TextWindow;
  /** What was read and not given out, in the writer's own spelling. */
  private raw = '';
  /** Characters of `raw` behind each character that it stands for. */
  private lengths: number[] = [];
  /** The beginning of an escape. */
  private partial = '';
  /** At the beginning of `raw`. */
  private isInString = false;
  private readonly end = new JsonEnd();

  constructor(
    rules: readonly WindowRule[],
    replace: Replace,
    private readonly kind: EscapedText = 'json',
  ) {
    this.window = new TextWindow(rules, replace);
  }

  get heldLength(): number {
    return this.raw.length + this.partial.length;
  }

  push(text: string): string {
    const decoded = this.decode(text);
    const isWhole = this.kind === 'json' && this.end.read(text);
    return this.write(decoded, isWhole);
  }

  /** All that there is. */
  whole(text: string): string {
    const decoded = this.decode(text);
    return this.partial === '' ? this.write(decoded, true) : this.write(decoded, false) + this.flush();
  }

  flush(): string {
    const rest = this.partial;
    this.partial = '';
    this.raw += rest;
    for (let at = 0; at < rest.length; at++) this.lengths.push(1);
    return this.write(rest, true);
  }

  private decode(text: string): string {
    const all = this.partial + text;
    this.partial = '';
    let decoded = '';
    let at = 0;
    while (at < all.length) {
      const length = all[at] === '\\' ? lengthOfEscape(all, at) : 1;
      if (length === 0) {
        this.partial = all.slice(at);
        break;
      }
      decoded += length === 1 ? all[at] : unescaped(all.slice(at, at + length));
      this.lengths.push(length);
      at += length;
    }
    this.raw += all.slice(0, at);
    return decoded;
  }

  private write(decoded: string, isEnd: boolean): string {
    const out: string[] = [];
    let [at, rawAt] = [0, 0];
    for (const { length, replacement } of this.window.advance(decoded, isEnd)) {
      const begin = rawAt;
      for (const end = at + length; at < end; at++) rawAt += this.lengths[at] ?? 0;
      const raw = this.raw.slice(begin, rawAt);
      out.push(replacement === undefined ? raw : this.spell(replacement));
      this.isInString = endsInString(raw, this.isInString);
    }
    if (at > 0) this.lengths = this.lengths.slice(at);
    this.raw = this.raw.slice(rawAt);
    return out.join('');
  }

  private spell(replacement: string): string {
    const quoted = JSON.stringify(replacement);
    return this.kind === 'json' && !this.isInString ? quoted : quoted.slice(1, -1);
  }
}

/** 0 where more has to come to know. JSON within JSON writes several backslashes for one: what they stand for at last is read. */
function lengthOfEscape(text: string, at: number): number {
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

function unescaped(written: string): string {
  if (written === BACKSLASHES) return '\\';
  const name = written.slice(written.lastIndexOf('\\') + 1);
  if (name.length > HEX_DIGITS) return String.fromCharCode(Number.parseInt(name.slice(1), 16));
  return ESCAPES[name] ?? name;
}

function endsInString(raw: string, isInString: boolean): boolean {
  let inside = isInString;
  for (let at = 0; at < raw.length; at++) {
    if (raw[at] === '\\') at++;
    else if (raw[at] === '"') inside = !inside;
  }
  return inside;
}

/** A whole text with what its escapes stand for in their place, as a window reads it. */
export function decodeEscapes(text: string): string {
  let decoded = '';
  let from = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', from)) {
    const length = lengthOfEscape(text, at);
    // The beginning of an escape is what is written there.
    if (length === 0) break;
    decoded += text.slice(from, at) + (length === 1 ? text[at] : unescaped(text.slice(at, at + length)));
    from = at + length;
  }
  return decoded + text.slice(from);
}

/** Knows when an object or a list has ended, so that nothing of it waits any longer. */
class JsonEnd {
  private depth = 0;
  private isInString = false;
  private isEscaped = false;

  /** True where the text ended with the end of its value. */
  read(text: string): boolean {
    let hasEnded = false;
    for (const character of text) {
      if (this.isInString) {
        if (this.isEscaped) this.isEscaped = false;
        else if (character === '\\') this.isEscaped = true;
        else if (character === '"') this.isInString = false;
      } else if (character === '"') this.isInString = true;
      else if (character === '{' || character === '[') this.depth++;
      else if (character === '}' || character === ']') this.depth--;
      hasEnded = this.depth === 0 && (hasEnded || character === '}' || character === ']');
    }
    return hasEnded;
  }
}
