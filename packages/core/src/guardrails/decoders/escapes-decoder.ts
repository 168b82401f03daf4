import type { TextWindow } from '../text-window';
import { unescapeText } from './escapes';
import type { Step } from './steps';

/** A window over unescaped text that reports positions in the original. */
export class EscapesDecoder {
  /** Characters that were written for each one that the window has and did not give out. */
  private lengths: number[];
  /** The beginning of an escape. */
  private partial = '';
  /** Position of the first of `lengths` in the decoded and in the original text. */
  private at: number;
  private writtenAt: number;
  /** Positions at the window's last query. */
  private places: { readonly at: number; readonly writtenAt: number; readonly lengths: readonly number[] };
  private sums: readonly number[] | undefined;

  /** The current text of `window` must not contain escapes. */
  constructor(private readonly window: TextWindow) {
    this.lengths = new Array<number>(window.heldLength).fill(1);
    this.at = window.gone;
    this.writtenAt = window.gone;
    this.places = { at: this.at, writtenAt: this.writtenAt, lengths: this.lengths };
  }

  /** Start of the unreleased text in the original. */
  get gone(): number {
    return this.writtenAt;
  }

  advance(text: string, isEnd: boolean): readonly Step[] {
    const { decoded, rest } = this.decode(text);
    this.partial = rest;
    return this.step(decoded, isEnd);
  }

  /** Ends the text: an incomplete escape is literal. */
  finish(text: string): readonly Step[] {
    const { decoded, rest } = this.decode(text);
    this.partial = '';
    for (let one = 0; one < rest.length; one++) this.lengths.push(1);
    return this.step(decoded + rest, true);
  }

  private decode(text: string): { readonly decoded: string; readonly rest: string } {
    const all = this.partial + text;
    const { text: decoded, length } = unescapeText(all, (characters, written) => {
      for (let one = 0; one < characters; one++) this.lengths.push(written);
    });
    return { decoded, rest: all.slice(length) };
  }

  /** Position in the original of a character from the window's last steps. */
  writtenPlace(place: number): number {
    const { at, writtenAt, lengths } = this.places;
    this.sums ??= sumsOf(lengths, writtenAt);
    return this.sums[place - at] ?? this.sums.at(-1) ?? writtenAt;
  }

  private step(decoded: string, isEnd: boolean): readonly Step[] {
    const given = this.window.advance(decoded, isEnd);
    const { at, writtenAt, lengths } = this;
    this.places = { at, writtenAt, lengths };
    this.sums = undefined;
    let next = 0;
    const steps = given.map((step): Step => {
      let length = 0;
      for (const end = next + step.length; next < end; next++) length += lengths[next] ?? 0;
      this.writtenAt += length;
      return { ...step, length };
    });
    if (next > 0) this.lengths = lengths.slice(next);
    this.at += next;
    return steps;
  }
}

function sumsOf(lengths: readonly number[], first: number): readonly number[] {
  const sums = [first];
  let sum = first;
  for (const length of lengths) {
    sum += length;
    sums.push(sum);
  }
  return sums;
}
