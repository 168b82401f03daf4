import { FoldedStretch } from './folded-text';
import { byStart, mergeHits, type Replace, type Step, stepsOf, writeSteps } from './readings/steps';
import { type Hit, RuleSearch, type WindowRule } from './rule-search';
import { CONTEXT } from './span';

/** Characters of what was given out that are looked at again where it goes on after its end. */
const KEPT_AT_END = 512;
/** Rules that have decided about as much are asked about one stretch of text, which is folded once for all of them. */
const NEAR = 1024;
const NO_STEPS: readonly Step[] = [];
const NO_HITS: readonly Hit[] = [];

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
  private release(isEnd: boolean): Release | undefined {
    const { context, held, carried } = this;
    const text = context + held;
    const from = context.length;
    this.search(text, { from, isEnd });
    let open = text.length;
    for (const { decided } of this.searches) open = Math.min(open, decided);
    const until = isEnd ? text.length : Math.max(from, splitsNothing(text, open));
    if (until === from && !isEnd) return undefined;
    const begun = this.takeHits(text, isEnd ? Number.POSITIVE_INFINITY : until);
    if (begun.length === 0 && carried === undefined) {
      this.keep(text, { until, isEnd });
      return { steps: until > from ? [{ length: until - from }] : NO_STEPS, text: text.slice(from, until) };
    }
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

  /** Those that begin before a place and change something; others are told. */
  private takeHits(text: string, until: number): readonly Hit[] {
    let [begun, watched] = [NO_HITS, NO_HITS];
    for (const search of this.searches) {
      const hits = search.take(until);
      if (hits.length === 0) continue;
      if (search.rule.watches === true) watched = [...watched, ...hits];
      else begun = [...begun, ...hits];
    }
    for (const hit of byStart(watched)) this.replace(this.inAll(hit), text.slice(hit.start, hit.end));
    return begun;
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

  private keep(text: string, { until, isEnd }: { readonly until: number; readonly isEnd: boolean }): void {
    const begin = Math.max(0, splitsNothing(text, until - (isEnd ? KEPT_AT_END : CONTEXT)));
    this.context = text.slice(begin, until);
    this.held = text.slice(until);
    this.wasFlushed = isEnd;
    this.before += begin;
    if (begin > 0) for (const search of this.searches) search.move(begin);
  }

  /** By where it stands in all of the text. */
  private inAll(hit: Hit): Hit {
    const { before } = this;
    return before === 0 ? hit : { ...hit, start: before + hit.start, end: before + hit.end };
  }
}

/** What goes on, and what becomes of it. */
interface Release {
  readonly steps: readonly Step[];
  readonly text: string;
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
