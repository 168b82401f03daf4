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

/** Overlapping ones are one, of the rule that stands first. */
export function mergeHits(hits: readonly Hit[]): readonly Hit[] {
  if (hits.length < 2) return hits;
  const merged: Hit[] = [];
  for (const hit of byStart(hits)) {
    const last = merged.at(-1);
    if (last === undefined || hit.start >= last.end) merged.push(hit);
    else {
      const first = hit.rule < last.rule ? hit : last;
      const rules = [...new Set([...last.rules, ...hit.rules])];
      merged[merged.length - 1] = { ...first, rules, start: last.start, end: Math.max(last.end, hit.end) };
    }
  }
  return merged;
}
