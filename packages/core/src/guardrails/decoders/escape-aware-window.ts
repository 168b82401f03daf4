import type { Hit, WindowRule } from '../rule-search';
import { TextWindow } from '../text-window';
import { decodeEscapes } from './escapes';
import { EscapesDecoder } from './escapes-decoder';
import { byStart, mergeHits, type Replace, type Step, stepsOf, writeSteps } from './steps';

/** A hit by positions in the original text. */
interface Found extends Hit {
  readonly isPlain: boolean;
}

const NOTHING = { find: () => [], openFrom: (text: string) => text.length };
const rangeOf = ({ start, end }: Hit): string => `${start} ${end}`;

/**
 * Streamed text, searched as written and, from its first backslash on, unescaped as well; overlapping finds of both
 * merge. Law: output and findings don't depend on how the text is cut.
 */
export class EscapeAwareWindow {
  private readonly plain: TextWindow;
  private escapes: EscapesDecoder | undefined;
  /** Held text, and its start, once escapes are decoded too. */
  private text = '';
  private begin = 0;
  private found: Found[] = [];
  /** Hits of the escapes decoder, in characters of its decoded text. */
  private read: Hit[] = [];

  constructor(
    private readonly rules: readonly WindowRule[],
    private readonly replace: Replace,
  ) {
    this.plain = new TextWindow(rules, (hit, original) => {
      if (this.escapes === undefined) return replace(hit, original);
      this.found.push({ ...hit, isPlain: true });
      return '';
    });
  }

  get heldLength(): number {
    return this.escapes === undefined ? this.plain.heldLength : this.text.length;
  }

  push(text: string): string {
    return this.hasNoEscapes(text) ? this.plain.push(text) : this.write(text, false);
  }

  whole(text: string): string {
    return this.hasNoEscapes(text) ? this.plain.whole(text) : this.write(text, true);
  }

  flush(): string {
    return this.hasNoEscapes('') ? this.plain.flush() : this.write('', true);
  }

  /** `push` or `flush` for a long text; one with escapes is read at once. */
  async writeInSlices(text: string, isEnd: boolean): Promise<string> {
    return this.hasNoEscapes(text) ? this.plain.writeInSlices(text, isEnd) : this.write(text, isEnd);
  }

  /** `push` or `whole`, as steps over the released characters. */
  advance(text: string, isEnd: boolean): readonly Step[] {
    return this.hasNoEscapes(text) ? this.plain.advance(text, isEnd) : this.release(text, isEnd).steps;
  }

  private hasNoEscapes(next: string): boolean {
    return this.escapes === undefined && !next.includes('\\');
  }

  private write(text: string, isEnd: boolean): string {
    const { steps, given } = this.release(text, isEnd);
    return writeSteps(steps, given);
  }

  private release(text: string, isEnd: boolean): { readonly steps: readonly Step[]; readonly given: string } {
    const escapes = this.escapes ?? this.readEscapes();
    this.text += text;
    this.plain.advance(text, isEnd);
    if (isEnd) escapes.finish(text);
    else escapes.advance(text, false);
    this.takeRead(escapes);
    return this.give(isEnd ? this.begin + this.text.length : Math.min(this.plain.gone, escapes.gone), isEnd);
  }

  /** The decoder starts with the text that the plain window still holds. */
  private readEscapes(): EscapesDecoder {
    const { plain } = this;
    this.text = plain.waiting;
    this.begin = plain.gone;
    const rules = this.rules.map((rule) => (rule.isSettled === true ? { ...rule, detector: NOTHING } : rule));
    const window = plain.fork(rules, (hit) => {
      this.read.push(hit);
      return '';
    });
    this.escapes = new EscapesDecoder(window);
    return this.escapes;
  }

  private takeRead(escapes: EscapesDecoder): void {
    for (const hit of this.read) {
      const [start, end] = [escapes.writtenPlace(hit.start), escapes.writtenPlace(hit.end)];
      this.found.push({ ...hit, start, end, isPlain: false });
    }
    this.read = [];
  }

  private give(until: number, isEnd: boolean): { readonly steps: readonly Step[]; readonly given: string } {
    const [acting, watched, later]: [Found[], Found[], Found[]] = [[], [], []];
    for (const one of this.found) {
      if (one.start >= until && !isEnd) later.push(one);
      else (this.rules[one.rule]?.watches === true ? watched : acting).push(one);
    }
    const textOf = (begin: number, end: number) => this.text.slice(begin - this.begin, end - this.begin);
    for (const hit of byStart(watched)) this.replace(hit, textOf(hit.start, hit.end));
    const plain = new Set(acting.filter(({ isPlain }) => isPlain).map(rangeOf));
    const merged = [...mergeHits([acting])];
    const last = merged.at(-1);
    if (last !== undefined && last.end > until && !isEnd) {
      merged.pop();
      later.push({ ...last, isPlain: plain.has(rangeOf(last)) });
    }
    this.found = later;
    const gone = last !== undefined && last.end > until && !isEnd ? last.start : until;
    const steps = stepsOf(merged, {
      ...{ start: this.begin, until: gone, textOf },
      // A hit behind escapes is judged by the decoded text.
      replace: (hit, original) => this.replace(hit, plain.has(rangeOf(hit)) ? original : decodeEscapes(original)),
    });
    const given = textOf(this.begin, gone);
    this.text = this.text.slice(gone - this.begin);
    this.begin = gone;
    return { steps, given };
  }
}
