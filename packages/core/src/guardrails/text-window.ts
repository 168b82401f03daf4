import { type FoldedText, type Folding, foldText } from './folded-text';
import { CONTEXT, type Finder, type Span } from './span';

/** A finder with what it is to be asked for. */
export interface WindowRule {
  readonly finder: Finder;
  readonly folding: Folding;
  /** Its hits are told, and never changed: they neither take a place nor widen another rule's. */
  readonly watches?: boolean;
}

/** A span, and whose it is. */
export interface Hit extends Span {
  /** The first rule that found it. */
  readonly rule: number;
  /** All rules that found some of it. */
  readonly rules: readonly number[];
}

/** What takes a hit's place; undefined: it stays. Throws where nothing may go on. */
export type Replace = (hit: Hit, original: string) => string | undefined;

/** The next characters of a text, and what takes their place, where something does. */
export interface Step {
  readonly length: number;
  readonly replacement?: string;
}

interface Scan {
  readonly hits: readonly Hit[];
  readonly watched: readonly Hit[];
  /** Where what is not decided yet begins. */
  readonly open: number;
}

/** A text that waits longer than this is looked at again only once it has grown by a quarter: each is looked at a few times. */
const ALWAYS_SCANNED = 512;
const GROWTH = 1.25;
/** Characters of what was given out that are looked at again where it goes on after its end. */
const KEPT_AT_END = 512;
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
  private scannedAgainAt = 0;
  /** All was given out although more came: what began before that is cut off where it goes on. */
  private wasFlushed = false;

  constructor(
    private readonly rules: readonly WindowRule[],
    private readonly replace: Replace,
  ) {}

  /** Characters that wait for what follows them. */
  get heldLength(): number {
    return this.held.length + (this.carried?.text.length ?? 0);
  }

  push(text: string): string {
    this.held += text;
    if (this.held.length < this.scannedAgainAt) return '';
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
    if (!isEnd && this.held.length < this.scannedAgainAt) return NO_STEPS;
    return this.release(isEnd).steps;
  }

  private write(isEnd: boolean): string {
    const { steps, text } = this.release(isEnd);
    const [only] = steps;
    if (only === undefined) return '';
    if (steps.length === 1 && only.replacement === undefined) return text;
    let at = 0;
    let out = '';
    for (const { length, replacement } of steps) {
      out += replacement ?? text.slice(at, at + length);
      at += length;
    }
    return out;
  }

  /** What goes on, and what becomes of it. What is decided is not searched again, also where it waits for a find's end. */
  private release(isEnd: boolean): { readonly steps: readonly Step[]; readonly text: string } {
    const { context, held, carried } = this;
    const text = context + held;
    const from = context.length;
    const { hits, watched, open } = scan(this.rules, text, { from, isEnd, isCut: this.wasFlushed });
    const until = isEnd ? text.length : Math.max(from, splitsNothing(text, Math.max(from, open)));
    const isDecided = ({ start }: Hit) => isEnd || start < until;
    for (const hit of watched) if (isDecided(hit)) this.replace(hit, text.slice(hit.start, hit.end));
    const begun = isEnd ? hits : hits.filter(isDecided);
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
    const steps = this.stepsOf(crossing === undefined ? merged : merged.slice(0, -1), {
      start,
      until: goneUntil,
      textOf,
    });
    const released = goneUntil > start ? textOf(start, goneUntil) : '';
    const kept = isEnd ? KEPT_AT_END : CONTEXT;
    this.context = text.slice(Math.max(0, splitsNothing(text, until - kept)), until);
    this.held = text.slice(until);
    this.wasFlushed = isEnd || (this.wasFlushed && until === from);
    this.scannedAgainAt = this.held.length > ALWAYS_SCANNED ? this.held.length * GROWTH : 0;
    return { steps, text: released };
  }

  private stepsOf(hits: readonly Hit[], { start, until, textOf }: Released): readonly Step[] {
    const steps: Step[] = [];
    let at = start;
    for (const hit of hits) {
      const replacement = this.replace(hit, textOf(hit.start, hit.end));
      if (replacement === undefined) continue;
      if (hit.start > at) steps.push({ length: hit.start - at });
      steps.push({ length: hit.end - hit.start, replacement });
      at = hit.end;
    }
    if (until > at) steps.push({ length: until - at });
    return steps;
  }
}

interface Released {
  readonly start: number;
  readonly until: number;
  readonly textOf: (begin: number, end: number) => string;
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

interface ScanOptions {
  readonly from: number;
  readonly isEnd: boolean;
  /** What began before `from` counts, from there on. */
  readonly isCut: boolean;
}

/** Everything that rules find from `from` on. */
function scan(rules: readonly WindowRule[], text: string, { from, isEnd, isCut }: ScanOptions): Scan {
  const folded = new Map<Folding, FoldedText>();
  const hits: Hit[] = [];
  const watched: Hit[] = [];
  let open = text.length;
  for (const [rule, { finder, folding, watches }] of rules.entries()) {
    const known = folded.get(folding) ?? foldText(text, folding);
    folded.set(folding, known);
    for (const { start, end, kind } of finder.find(known.text, isEnd)) {
      const began = known.originOf(start);
      const span = { start: Math.max(from, began), end: known.endOf(end), kind, rule, rules: [rule] };
      if (began >= from || (isCut && span.end > from)) (watches === true ? watched : hits).push(span);
    }
    if (!isEnd) open = Math.min(open, known.originOf(finder.openFrom(known.text)));
  }
  return { hits, watched, open };
}

/** Overlapping ones are one, of the rule that stands first. */
function mergeHits(hits: readonly Hit[]): readonly Hit[] {
  if (hits.length < 2) return hits;
  const merged: Hit[] = [];
  for (const hit of hits.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (last === undefined || hit.start >= last.end) merged.push(hit);
    else {
      const first = hit.rule < last.rule ? hit : last;
      const rules = last.rules.includes(hit.rule) ? last.rules : [...last.rules, hit.rule];
      merged[merged.length - 1] = { ...first, rules, start: last.start, end: Math.max(last.end, hit.end) };
    }
  }
  return merged;
}
