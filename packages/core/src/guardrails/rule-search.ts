import type { FoldedStretch, Folding } from './folded-text';
import type { Detector, Span } from './span';

/** A detector with its options. */
export interface WindowRule {
  readonly detector: Detector;
  readonly folding: Folding;
  /** Reports hits without changes: they neither replace text nor widen another rule's hits. */
  readonly watches?: boolean;
  /** Its finds don't depend on other readings of the text. */
  readonly isSettled?: boolean;
}

/** A span with its rule. */
export interface Hit extends Span {
  /** The first rule that found it. */
  readonly rule: number;
  /** All rules that found some of it. */
  readonly rules: readonly number[];
}

/** True for a detector that needs the whole text. */
export const waitsForEnd = ({ detector }: WindowRule): boolean => detector.needsWhole === true;

/** A text that waits longer than this is looked at again only once it has grown by a quarter: each is looked at a few times. */
const ALWAYS_SCANNED = 512;
const GROWTH = 1.25;
const NO_SPANS: readonly Span[] = [];

/** Findings of a window. */
export interface Look {
  /** Start of the held text. */
  readonly from: number;
  /** Length of the window's text. */
  readonly length: number;
  readonly isEnd: boolean;
  /** Counts a find that began before `from`, from there on. */
  readonly isCut: boolean;
  /** Characters before the window's text. */
  readonly before: number;
}

/** Progress of a rule in a window's text; positions count from the beginning of that text. */
export class RuleSearch {
  /** Start of the undecided part. */
  decided = 0;
  private hits: Hit[] = [];
  private againAt = 0;
  /** Rules of all hits. */
  private readonly rules: readonly number[];

  constructor(
    readonly rule: WindowRule,
    private readonly index: number,
  ) {
    this.rules = [index];
  }

  /** Finds that wait. */
  get pending(): number {
    return this.hits.length;
  }

  /** True if another look is too early. */
  waits(length: number): boolean {
    return waitsForEnd(this.rule) || length - this.decided < this.againAt;
  }

  /** `stretch`: the window's text from somewhere on to its end. */
  look(stretch: FoldedStretch, { from, length, isEnd, isCut, before }: Look): void {
    const { decided, index, rules } = this;
    const { detector, folding } = this.rule;
    const { begin } = stretch;
    const folded = stretch.as(folding);
    const first = folded.indexOf(decided - begin);
    const open = isEnd ? length : begin + folded.originOf(detector.openFrom(folded.text, first, before + begin));
    const goesOn = isCut && decided === from;
    const mayFind = goesOn || detector.mayFind?.(folded.text, first, folded.traitsOf(first)) !== false;
    const found = mayFind ? detector.find(folded.text, isEnd, before + begin) : NO_SPANS;
    for (const { start, end, kind } of found) {
      const began = begin + folded.originOf(start);
      const hit = { start: Math.max(from, began), end: begin + folded.endOf(end), kind, rule: index, rules };
      const isNew = began >= decided ? isEnd || began < open : goesOn && hit.end > from && !this.knows(hit);
      if (isNew) this.hits.push(hit);
    }
    this.decided = Math.max(decided, open);
    const waiting = length - this.decided;
    this.againAt = waiting > ALWAYS_SCANNED ? waiting * GROWTH : 0;
  }

  private knows({ start, end }: Hit): boolean {
    return this.hits.some((hit) => hit.start === start && hit.end >= end);
  }

  /** Hits before a position. */
  take(until: number): readonly Hit[] {
    const { hits } = this;
    if (hits.length === 0) return hits;
    if (until === Number.POSITIVE_INFINITY) {
      this.hits = [];
      return hits;
    }
    this.hits = hits.filter(({ start }) => start >= until);
    return this.hits.length === 0 ? hits : hits.filter(({ start }) => start < until);
  }

  /** Shifts the start of the window's text. */
  move(by: number): void {
    this.decided -= by;
    if (this.hits.length > 0)
      this.hits = this.hits.map((hit) => ({ ...hit, start: hit.start - by, end: hit.end - by }));
  }
}
