import { type FoldedText, type Folding, foldText } from './folded-text';
import { byStart, type Hit, mergeHits, type Replace, type Step, stepsOf, writeSteps } from './readings/steps';
import { CONTEXT, type Finder } from './span';

/** A finder with what it is to be asked for. */
export interface WindowRule {
  readonly finder: Finder;
  readonly folding: Folding;
  /** Its hits are told, and never changed: they neither take a place nor widen another rule's. */
  readonly watches?: boolean;
  /** What it finds is known, however the text is read. */
  readonly isSettled?: boolean;
}

/** A text that waits longer than this is looked at again only once it has grown by a quarter: each is looked at a few times. */
const ALWAYS_SCANNED = 512;
const GROWTH = 1.25;
/** Characters of what was given out that are looked at again where it goes on after its end. */
const KEPT_AT_END = 512;
/** Rules that have decided about as much are asked about one stretch of text, which is folded once for all of them. */
const NEAR = 1024;
const NO_STEPS: readonly Step[] = [];

/**
 * Text in pieces: given out as soon as nothing in it can become something that a rule looks for.
 * Law: what comes out is the same in whatever pieces the text comes.
 */
export class TextWindow {
  /** What went out last: rules look at it, and never change it. */
  private context = '';
  private held = '';
  private carried: Carried | undefined;
  private readonly searches: readonly RuleSearch[];
  /** Characters before `context`. */
  private before = 0;
  /** All was given out although more came: what began before that is cut off where it goes on. */
  private wasFlushed = false;

  constructor(
    rules: readonly WindowRule[],
    private readonly replace: Replace,
  ) {
    this.searches = rules.map((rule, index) => new RuleSearch(rule, index));
  }

  /** Characters that wait for what follows them. */
  get heldLength(): number {
    return this.held.length + (this.carried?.text.length ?? 0);
  }

  /** Of what was given out, where it ends in all of the text; what waits is the text behind it. */
  get gone(): number {
    return this.heldFrom - (this.carried?.text.length ?? 0);
  }

  get waiting(): string {
    return (this.carried?.text ?? '') + this.held;
  }

  /** In all of the text, where what is not decided begins. */
  get heldFrom(): number {
    return this.before + this.context.length;
  }

  /** One that goes on from here by itself, and finds again what this one has not given out. */
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

  /** Nothing follows; what follows all the same is looked at together with what went out. */
  flush(): string {
    return this.write(true);
  }

  /** All that there is. */
  whole(text: string): string {
    this.held += text;
    return this.write(true);
  }

  /** `push` or `flush`, told by what becomes of the characters that go on. */
  advance(text: string, isEnd: boolean): readonly Step[] {
    this.held += text;
    return this.release(isEnd)?.steps ?? NO_STEPS;
  }

  private write(isEnd: boolean): string {
    const { steps = NO_STEPS, text = '' } = this.release(isEnd) ?? {};
    return writeSteps(steps, text);
  }

  /** What goes on, and what becomes of it. What a rule has decided is not searched by it again, however long it waits for others. */
  private release(isEnd: boolean): { readonly steps: readonly Step[]; readonly text: string } | undefined {
    const { context, held, carried } = this;
    const text = context + held;
    const from = context.length;
    this.search(text, { from, isEnd });
    let open = text.length;
    for (const { decided } of this.searches) open = Math.min(open, decided);
    const until = isEnd ? text.length : Math.max(from, splitsNothing(text, open));
    if (until === from && !isEnd) return undefined;
    const [begun, watched]: [Hit[], Hit[]] = [[], []];
    for (const search of this.searches) {
      const hits = search.take(isEnd ? Number.POSITIVE_INFINITY : until);
      if (hits.length > 0) (search.rule.watches === true ? watched : begun).push(...hits);
    }
    for (const hit of byStart(watched)) this.replace(this.inAll(hit), text.slice(hit.start, hit.end));
    const merged = mergeHits(carried === undefined ? begun : [ahead(carried, from), ...begun]);
    const last = merged.at(-1);
    const crossing = last !== undefined && last.end > until ? last : undefined;
    // Places count from where `text` begins: what is carried stands before `from`.
    const start = from - (carried?.text.length ?? 0);
    const textOf = (begin: number, end: number) =>
      begin < from ? (carried?.text ?? '').slice(begin - start) + text.slice(from, end) : text.slice(begin, end);
    const goneUntil = crossing?.start ?? until;
    this.carried = crossing && {
      ...{ hit: crossing, text: textOf(crossing.start, until), over: crossing.end - until },
    };
    const steps = stepsOf(crossing === undefined ? merged : merged.slice(0, -1), {
      ...{ start, until: goneUntil, textOf },
      replace: (hit, original) => this.replace(this.inAll(hit), original),
    });
    const released = goneUntil > start ? textOf(start, goneUntil) : '';
    this.keep(text, { until, isEnd });
    return { steps, text: released };
  }

  private search(text: string, { from, isEnd }: { readonly from: number; readonly isEnd: boolean }): void {
    let [least, most] = [text.length, 0];
    for (const search of this.searches) {
      if (!isEnd && search.waits(text.length)) continue;
      least = Math.min(least, search.decided);
      most = Math.max(most, search.decided);
    }
    const beginOf = (decided: number): number =>
      decided <= from ? 0 : Math.max(0, splitsNothing(text, decided - CONTEXT));
    const shared = most - least <= NEAR ? beginOf(least) : undefined;
    const folded = new Map<Folding, FoldedText>();
    const { wasFlushed: isCut, before } = this;
    for (const search of this.searches) {
      if (!isEnd && search.waits(text.length)) continue;
      const { folding } = search.rule;
      const begin = shared ?? beginOf(search.decided);
      const known = shared === undefined ? undefined : folded.get(folding);
      const stretch = known ?? foldText(begin === 0 ? text : text.slice(begin), folding);
      if (shared !== undefined) folded.set(folding, stretch);
      search.look(stretch, { begin, from, length: text.length, isEnd, isCut, at: before + begin });
    }
  }

  private keep(text: string, { until, isEnd }: { readonly until: number; readonly isEnd: boolean }): void {
    const begin = Math.max(0, splitsNothing(text, until - (isEnd ? KEPT_AT_END : CONTEXT)));
    this.context = text.slice(begin, until);
    this.held = text.slice(until);
    this.wasFlushed = isEnd;
    this.before += begin;
    for (const search of this.searches) search.move(begin);
  }

  /** By where it stands in all of the text. */
  private inAll(hit: Hit): Hit {
    const { before } = this;
    return before === 0 ? hit : { ...hit, start: before + hit.start, end: before + hit.end };
  }
}

interface Look {
  /** Where the folded stretch begins in the window's text. */
  readonly begin: number;
  /** Where it begins in all of the text. */
  readonly at: number;
  /** Where what is held begins. */
  readonly from: number;
  /** Of the window's text. */
  readonly length: number;
  readonly isEnd: boolean;
  /** What began before `from` counts, from there on. */
  readonly isCut: boolean;
}

/** How far one rule has come in a window's text; its places count from where that text begins. */
class RuleSearch {
  /** Where what may still become something begins. */
  decided = 0;
  private hits: Hit[] = [];
  private againAt = 0;

  constructor(
    readonly rule: WindowRule,
    private readonly index: number,
  ) {}

  /** True where it is too early to look again. */
  waits(length: number): boolean {
    return waitsForEnd(this.rule) || length - this.decided < this.againAt;
  }

  look(folded: FoldedText, { begin, at, from, length, isEnd, isCut }: Look): void {
    const { decided, index } = this;
    const { finder } = this.rule;
    const open = isEnd ? length : begin + folded.originOf(finder.openFrom(folded.text, at));
    for (const { start, end, kind } of finder.find(folded.text, isEnd, at)) {
      const began = begin + folded.originOf(start);
      const hit = { start: Math.max(from, began), end: begin + folded.endOf(end), kind, rule: index, rules: [index] };
      const isNew =
        began >= decided ? isEnd || began < open : isCut && decided === from && hit.end > from && !this.knows(hit);
      if (isNew) this.hits.push(hit);
    }
    this.decided = Math.max(decided, open);
    const waiting = length - this.decided;
    this.againAt = waiting > ALWAYS_SCANNED ? waiting * GROWTH : 0;
  }

  private knows({ start, end }: Hit): boolean {
    return this.hits.some((hit) => hit.start === start && hit.end >= end);
  }

  /** Those that begin before a place. */
  take(until: number): readonly Hit[] {
    const { hits } = this;
    if (hits.length === 0) return hits;
    this.hits = hits.filter(({ start }) => start >= until);
    return this.hits.length === 0 ? hits : hits.filter(({ start }) => start < until);
  }

  /** The window's text begins so much later. */
  move(by: number): void {
    this.decided -= by;
    if (by > 0 && this.hits.length > 0)
      this.hits = this.hits.map((hit) => ({ ...hit, start: hit.start - by, end: hit.end - by }));
  }
}

/** A find of which the beginning is decided, and its end is not. */
interface Carried {
  readonly hit: Hit;
  /** All of it that came before what is held. */
  readonly text: string;
  /** Characters of it in what is held, at least. */
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

/** True for what has to see all of a text. */
export const waitsForEnd = ({ finder }: WindowRule): boolean => finder.needsWhole === true;
