import { type FoldedText, type Folding, foldText } from './folded-text';
import { CONTEXT, type Finder, type Span } from './span';

/** A finder with what it is to be asked for. */
export interface WindowRule {
  readonly finder: Finder;
  readonly folding: Folding;
}

/** A span, and whose it is. */
export interface Hit extends Span {
  /** The first rule that found it. */
  readonly rule: number;
}

/** What takes a hit's place; undefined: it stays. Throws where nothing may go on. */
export type Replace = (hit: Hit, original: string) => string | undefined;

interface Scan {
  readonly hits: readonly Hit[];
  /** Where what is not decided yet begins. */
  readonly open: number;
}

/**
 * Text in pieces: given out as soon as nothing in it can become something that a rule looks for.
 * Law: what comes out is the same in whatever pieces the text comes.
 */
export class TextWindow {
  /** What went out last: rules look at it, and never change it. */
  private context = '';
  private held = '';

  constructor(
    private readonly rules: readonly WindowRule[],
    private readonly replace: Replace,
  ) {}

  /** Characters that wait for what follows them. */
  get heldLength(): number {
    return this.held.length;
  }

  push(text: string): string {
    this.held += text;
    return this.release(false);
  }

  /** Nothing follows. */
  flush(): string {
    return this.release(true);
  }

  private release(isEnd: boolean): string {
    const { context } = this;
    const text = context + this.held;
    const { hits, open } = scan(this.rules, text, context.length, isEnd);
    const until = isEnd ? text.length : beforeHits(hits, splitsNothing(text, Math.max(context.length, open)));
    let out = '';
    let from = context.length;
    for (const hit of hits) {
      if (hit.end > until) break;
      const replacement = this.replace(hit, text.slice(hit.start, hit.end));
      if (replacement === undefined) continue;
      out += text.slice(from, hit.start) + replacement;
      from = hit.end;
    }
    out += text.slice(from, until);
    this.context = text.slice(Math.max(0, splitsNothing(text, until - CONTEXT)), until);
    this.held = text.slice(until);
    return out;
  }
}

/** Half a character waits for its other half. */
function splitsNothing(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at;
}

function beforeHits(hits: readonly Hit[], until: number): number {
  for (let at = hits.length - 1, before = until; at >= 0; at--) {
    const hit = hits[at];
    if (hit !== undefined && hit.start < before && hit.end > before) return hit.start;
  }
  return until;
}

/** Everything that rules find from `from` on, in order; what overlaps is one. */
function scan(rules: readonly WindowRule[], text: string, from: number, isEnd: boolean): Scan {
  const folded = new Map<Folding, FoldedText>();
  const hits: Hit[] = [];
  let open = text.length;
  for (const [rule, { finder, folding }] of rules.entries()) {
    const known = folded.get(folding) ?? foldText(text, folding);
    folded.set(folding, known);
    for (const { start, end, kind } of finder.find(known.text, isEnd)) {
      const span = { start: known.originOf(start), end: known.endOf(end), kind, rule };
      if (span.start >= from) hits.push(span);
    }
    if (!isEnd) open = Math.min(open, known.originOf(finder.openFrom(known.text)));
  }
  return { hits: mergeHits(hits), open };
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
      merged[merged.length - 1] = { ...first, start: last.start, end: Math.max(last.end, hit.end) };
    }
  }
  return merged;
}
