import { EscapesDecoder } from './decoders/escapes-decoder';
import type { Replace, Step } from './decoders/steps';
import type { WindowRule } from './rule-search';
import { TextWindow } from './text-window';

/**
 * Judges streamed JSON by its decoded text and keeps the original spelling. Escapes a replacement, and quotes it in
 * place of a number.
 */
export class JsonWindow {
  private readonly decoder: EscapesDecoder;
  /** Unreleased text in its original spelling. */
  private raw = '';
  /** At the beginning of `raw`. */
  private isInString = false;
  private readonly end = new JsonEnd();

  constructor(rules: readonly WindowRule[], replace: Replace) {
    this.decoder = new EscapesDecoder(new TextWindow(rules, replace));
  }

  get heldLength(): number {
    return this.raw.length;
  }

  push(text: string): string {
    this.raw += text;
    return this.write(this.decoder.advance(text, this.end.read(text)));
  }

  /** All that there is. */
  whole(text: string): string {
    this.raw += text;
    return this.write(this.decoder.finish(text));
  }

  flush(): string {
    return this.whole('');
  }

  async writeInSlices(text: string, isEnd: boolean): Promise<string> {
    return isEnd ? this.whole(text) : this.push(text);
  }

  private write(steps: readonly Step[]): string {
    const out: string[] = [];
    let at = 0;
    for (const { length, replacement } of steps) {
      const raw = this.raw.slice(at, at + length);
      at += length;
      out.push(replacement === undefined ? raw : this.spell(replacement));
      this.isInString = endsInString(raw, this.isInString);
    }
    this.raw = this.raw.slice(at);
    return out.join('');
  }

  private spell(replacement: string): string {
    const quoted = JSON.stringify(replacement);
    return this.isInString ? quoted.slice(1, -1) : quoted;
  }
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
