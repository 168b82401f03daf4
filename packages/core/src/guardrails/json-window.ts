import { type Replace, TextWindow, type WindowRule } from './text-window';

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };
const HEX = /^[0-9a-fA-F]{4}$/;
/** `\u0041`. */
const LONGEST_ESCAPE = 6;

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
    let out = '';
    for (const { length, replacement } of this.window.advance(decoded, isEnd)) {
      const raw = this.take(length);
      out += replacement === undefined ? raw : this.spell(replacement);
      this.isInString = endsInString(raw, this.isInString);
    }
    return out;
  }

  private take(count: number): string {
    let length = 0;
    for (let index = 0; index < count; index++) length += this.lengths[index] ?? 0;
    this.lengths = this.lengths.slice(count);
    const taken = this.raw.slice(0, length);
    this.raw = this.raw.slice(length);
    return taken;
  }

  private spell(replacement: string): string {
    const quoted = JSON.stringify(replacement);
    return this.kind === 'json' && !this.isInString ? quoted : quoted.slice(1, -1);
  }
}

/** 0 where more has to come to know. */
function lengthOfEscape(text: string, at: number): number {
  if (at + 1 >= text.length) return 0;
  if (text[at + 1] !== 'u') return 2;
  const digits = text.slice(at + 2, at + LONGEST_ESCAPE);
  if (HEX.test(digits)) return LONGEST_ESCAPE;
  return digits.length < 4 && /^[0-9a-fA-F]*$/.test(digits) && at + 2 + digits.length === text.length ? 0 : 2;
}

function unescaped(written: string): string {
  if (written.length === LONGEST_ESCAPE) return String.fromCharCode(Number.parseInt(written.slice(2), 16));
  const name = written[1] ?? '';
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
