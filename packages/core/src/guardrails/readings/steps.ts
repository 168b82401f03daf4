import type { Hit } from '../rule-search';
import type { Span } from '../span';

/** What takes a hit's place, which is told by where it stands in all of the text; undefined: it stays. Throws where nothing may go on. */
export type Replace = (hit: Hit, original: string) => string | undefined;

/** The next characters of a text, and what takes their place, where something does. */
export interface Step {
  readonly length: number;
  readonly replacement?: string;
}

export interface Stretch {
  readonly start: number;
  readonly until: number;
  readonly textOf: (begin: number, end: number) => string;
  readonly replace: Replace;
}

/** What becomes of a stretch of text; hits in order, none over another. */
export function stepsOf(hits: readonly Hit[], { start, until, textOf, replace }: Stretch): readonly Step[] {
  const steps: Step[] = [];
  let at = start;
  for (const hit of hits) {
    const replacement = replace(hit, textOf(hit.start, hit.end));
    if (replacement === undefined) continue;
    if (hit.start > at) steps.push({ length: hit.start - at });
    steps.push({ length: hit.end - hit.start, replacement });
    at = hit.end;
  }
  if (until > at) steps.push({ length: until - at });
  return steps;
}

/** The text of such steps with what takes places in it. */
export function writeSteps(steps: readonly Step[], text: string): string {
  const [only] = steps;
  if (only === undefined) return '';
  if (steps.length === 1 && only.replacement === undefined) return text;
  let at = 0;
  // Joined here: a sum of many is put together only where it is read, all of a long text at once.
  const out = steps.map(({ length, replacement }) => {
    at += length;
    return replacement ?? text.slice(at - length, at);
  });
  return out.join('');
}

export const byStart = <S extends Span>(spans: readonly S[]): readonly S[] =>
  spans.length < 2 ? spans : spans.toSorted((a, b) => a.start - b.start || b.end - a.end);

/** Overlapping ones are one, of the rule that stands first. There may be very many of one rule. */
export function mergeHits(hits: readonly Hit[]): readonly Hit[] {
  if (hits.length < 2) return hits;
  const merged: Hit[] = [];
  let last: Hit | undefined;
  let end = 0;
  for (const hit of byStart(hits)) {
    if (last === undefined || hit.start >= end) {
      if (last !== undefined) merged.push(last.end === end ? last : { ...last, end });
      [last, end] = [hit, hit.end];
      continue;
    }
    end = Math.max(end, hit.end);
    const rules = withRules(last.rules, hit.rules);
    if (hit.rule < last.rule) last = { ...hit, rules, start: last.start };
    else if (rules !== last.rules) last = { ...last, rules };
  }
  if (last !== undefined) merged.push(last.end === end ? last : { ...last, end });
  return merged;
}

/** The very same where no other is among them. */
const withRules = (known: readonly number[], more: readonly number[]): readonly number[] =>
  more.every((rule) => known.includes(rule)) ? known : [...new Set([...known, ...more])];
