import { nextTurn } from '../async/time-slices';
import { byStart, mergeHits, type Replace, type Step, type Stretch, stepsOf, writeSteps } from './decoders/steps';
import { FoldedStretch } from './folded-text';
import { type Hit, RuleSearch, type WindowRule } from './rule-search';
import { CONTEXT } from './span';

/** Released characters that are searched again if the text continues after its end. */
const KEPT_AT_END = 512;
/** Rules that have decided about as much are asked about one stretch of text, which is folded once for all of them. */
const NEAR = 1024;
/** Finds that others wait for. */
const MANY = 4096;
const NO_STEPS: readonly Step[] = [];
const NO_LISTS: readonly (readonly Hit[])[] = [];

/** Streamed text, released as soon as no rule can match it. Law: the output doesn't depend on how the text is cut. */
export class TextWindow {
  /** Last released text: rules read it and never change it. */
  private context = '';
  private held = '';
  private carried: Carried | undefined;
  private readonly searches: readonly RuleSearch[];
  /** Characters before `context`. */
  private before = 0;
  /** All text was released early: later finds are cut at that point. */
  private wasFlushed = false;
  private readonly replacing: Replace = (hit, original) => this.replace(this.inAll(hit), original);

  constructor(
    rules: readonly WindowRule[],
    private readonly replace: Replace,
  ) {
    this.searches = rules.map((rule, index) => new RuleSearch(rule, index));
  }

  /** Length of the waiting text. */
  get heldLength(): number {
    return this.held.length + (this.carried?.text.length ?? 0);
  }

  /** End of the released text in the whole text; the waiting text follows it. */
  get gone(): number {
    return this.heldFrom - (this.carried?.text.length ?? 0);
  }

  get waiting(): string {
    return (this.carried?.text ?? '') + this.held;
  }

  /** Start of the undecided part in the whole text. */
  get heldFrom(): number {
    return this.before + this.context.length;
  }

  /** A copy that continues alone and repeats the unreleased finds. */
  fork(rules: readonly WindowRule[], replace: Replace): TextWindow {
    const { context, held, before, wasFlushed } = this;
    const forked = new TextWindow(rules, replace);
    Object.assign(forked, { context, held, before, wasFlushed });
    for (const search of forked.searches) search.decided = context.length;
    return forked;
  }

  push(text: string): string {
    this.held += text;
    return this.write(false);
  }

  /** Releases everything; later text is searched together with the released end. */
  flush(): string {
    return this.write(true);
  }

  /** All that there is. */
  whole(text: string): string {
    this.held += text;
    return this.write(true);
  }

  /** `push` or `flush`, as steps over the released characters. */
  advance(text: string, isEnd: boolean): readonly Step[] {
    this.held += text;
    return this.release(isEnd)?.steps ?? NO_STEPS;
  }

  private write(isEnd: boolean): string {
    const { steps = NO_STEPS, text = '' } = this.release(isEnd) ?? {};
    return writeSteps(steps, text);
  }

  /** `push` or `flush` for large text, with pauses for others. */
  async writeInSlices(text: string, isEnd: boolean): Promise<string> {
    this.held += text;
    const pending = this.searches.reduce((sum, search) => sum + search.pending, 0);
    const found = pending > MANY ? this.find(isEnd) : undefined;
    if (found === undefined) return pending > MANY ? '' : this.write(isEnd);
    for (let at = 0; at < found.watched.length; at += MANY) {
      await nextTurn();
      this.tell(found.watched.slice(at, at + MANY), found.text);
    }
    await nextTurn();
    const { hits, start, until, textOf } = this.merge(found);
    const pieces: string[] = [];
    let begin = start;
    for (let at = 0; at < hits.length; at += MANY) {
      await nextTurn();
      const end = hits[at + MANY]?.start ?? until;
      const steps = stepsOf(hits.slice(at, at + MANY), { start: begin, until: end, textOf, replace: this.replacing });
      pieces.push(writeSteps(steps, textOf(begin, end)));
      begin = end;
    }
    if (begin < until) pieces.push(textOf(begin, until));
    this.keep(found);
    return pieces.join('');
  }

  /** Running actions and their results. */
  private release(isEnd: boolean): Release | undefined {
    const found = this.find(isEnd);
    if (found === undefined) return undefined;
    const { text, from, until, watched, begun } = found;
    this.tell(watched, text);
    if (begun.length === 0 && this.carried === undefined) {
      this.keep(found);
      return { steps: until > from ? [{ length: until - from }] : NO_STEPS, text: text.slice(from, until) };
    }
    const { hits, ...stretch } = this.merge(found);
    const steps = stepsOf(hits, { ...stretch, replace: this.replacing });
    const released = stretch.until > stretch.start ? stretch.textOf(stretch.start, stretch.until) : '';
    this.keep(found);
    return { steps, text: released };
  }

  /** Finds the decided part. A rule doesn't search its decided text again while it waits for others. */
  private find(isEnd: boolean): Found | undefined {
    const { context, held } = this;
    const text = context + held;
    const from = context.length;
    // Half a character is none that a rule knows.
    let open = isEnd ? text.length : splitsNothing(text, text.length);
    this.search(open === text.length ? text : text.slice(0, open), { from, isEnd });
    for (const { decided } of this.searches) open = Math.min(open, decided);
    const until = isEnd ? text.length : Math.max(from, splitsNothing(text, open));
    if (until === from && !isEnd) return undefined;
    let [begun, watched] = [NO_LISTS, NO_LISTS];
    for (const search of this.searches) {
      const hits = search.take(isEnd ? Number.POSITIVE_INFINITY : until);
      if (hits.length === 0) continue;
      if (search.rule.watches === true) watched = [...watched, hits];
      else begun = [...begun, hits];
    }
    return { text, from, until, isEnd, begun, watched: byStart(watched.flat()) };
  }

  private tell(watched: readonly Hit[], text: string): void {
    for (const hit of watched) this.replace(this.inAll(hit), text.slice(hit.start, hit.end));
  }

  /** Changes within the released text; the rest is carried over. */
  private merge({ text, from, until, begun }: Found): Omit<Stretch, 'replace'> & { readonly hits: readonly Hit[] } {
    const { carried } = this;
    const merged = mergeHits(carried === undefined ? begun : [[ahead(carried, from)], ...begun]);
    const last = merged.at(-1);
    const crossing = last !== undefined && last.end > until ? last : undefined;
    // Positions count from the start of `text`: carried text lies before `from`.
    const start = from - (carried?.text.length ?? 0);
    const textOf = (begin: number, end: number) =>
      begin < from ? (carried?.text ?? '').slice(begin - start) + text.slice(from, end) : text.slice(begin, end);
    this.carried = crossing && {
      ...{ hit: crossing, text: textOf(crossing.start, until), over: crossing.end - until },
    };
    const hits = crossing === undefined ? merged : merged.slice(0, -1);
    return { hits, start, until: crossing?.start ?? until, textOf };
  }

  private search(text: string, { from, isEnd }: { readonly from: number; readonly isEnd: boolean }): void {
    const { length } = text;
    let [least, most] = [length, 0];
    for (const search of this.searches) {
      if (!isEnd && search.waits(length)) continue;
      least = Math.min(least, search.decided);
      most = Math.max(most, search.decided);
    }
    const isShared = most - least <= NEAR;
    let stretch: FoldedStretch | undefined;
    const look = { from, length, isEnd, isCut: this.wasFlushed, before: this.before };
    for (const search of this.searches) {
      if (!isEnd && search.waits(length)) continue;
      if (stretch === undefined || !isShared) {
        const decided = isShared ? least : search.decided;
        const begin = decided <= from ? 0 : Math.max(0, splitsNothing(text, decided - CONTEXT));
        stretch = new FoldedStretch(begin === 0 ? text : text.slice(begin), begin);
      }
      search.look(stretch, look);
    }
  }

  private keep({ text, until, isEnd }: Found): void {
    const begin = Math.max(0, splitsNothing(text, until - (isEnd ? KEPT_AT_END : CONTEXT)));
    this.context = text.slice(begin, until);
    this.held = text.slice(until);
    this.wasFlushed = isEnd;
    this.before += begin;
    if (begin > 0) for (const search of this.searches) search.move(begin);
  }

  /** The hit by its position in the whole text. */
  private inAll(hit: Hit): Hit {
    const { before } = this;
    return before === 0 ? hit : { ...hit, start: before + hit.start, end: before + hit.end };
  }
}

/** Decided text and its findings. */
interface Found {
  /** Searched text, and the start of its unreleased part. */
  readonly text: string;
  readonly from: number;
  readonly until: number;
  readonly isEnd: boolean;
  /** By rule. */
  readonly begun: readonly (readonly Hit[])[];
  readonly watched: readonly Hit[];
}

/** Running actions and their results. */
interface Release {
  readonly steps: readonly Step[];
  readonly text: string;
}

/** A find of which the beginning is decided, and its end is not. */
interface Carried {
  readonly hit: Hit;
  /** Earlier text of the find. */
  readonly text: string;
  /** Least number of its characters in the held text. */
  readonly over: number;
}

const ahead = ({ hit, text, over }: Carried, from: number): Hit => ({
  ...{ ...hit, start: from - text.length, end: from + over },
});

/** Half a character waits for its other half. */
function splitsNothing(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}
