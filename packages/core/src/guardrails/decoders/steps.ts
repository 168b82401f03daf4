import type { Hit } from '../rule-search';
import type { Span } from '../span';

/** Replacement for a hit, identified by its position in the whole text; undefined keeps it. Throws to stop the text. */
export type Replace = (hit: Hit, original: string) => string | undefined;

/** The next characters of a text, with their replacement if any. */
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

/** Replaces hits in a text; hits are in order and don't overlap. */
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

/** Text of the steps with replacements. */
export function writeSteps(steps: readonly Step[], text: string): string {
  const [only] = steps;
  if (only === undefined) return '';
  if (steps.length === 1 && only.replacement === undefined) return text;
  let at = 0;
  // Joined here, because the parts of a long text are copied only when read.
  const out = steps.map(({ length, replacement }) => {
    at += length;
    return replacement ?? text.slice(at - length, at);
  });
  return out.join('');
}

/** Sorts by start, the longest first. There may be a million spans, mostly sorted, so it merges sorted runs. */
export function byStart<S extends Span>(spans: readonly S[]): readonly S[] {
  let ends = runsOf(spans);
  let sorted = spans;
  while (ends.length > 1) {
    const merged: S[] = [];
    const next: number[] = [];
    for (let run = 0; run < ends.length; run += 2) {
      const [from, middle] = [run === 0 ? 0 : (ends[run - 1] ?? 0), ends[run] ?? 0];
      const to = ends[run + 1] ?? middle;
      mergeRuns(sorted, { from, middle, to }, merged);
      next.push(to);
    }
    [sorted, ends] = [merged, next];
  }
  return sorted;
}

const isBefore = (a: Span, b: Span): boolean => a.start < b.start || (a.start === b.start && a.end > b.end);

/** End of each sorted run. */
function runsOf(spans: readonly Span[]): number[] {
  const ends: number[] = [];
  for (let at = 1; at < spans.length; at++) if (isBefore(spans[at] as Span, spans[at - 1] as Span)) ends.push(at);
  ends.push(spans.length);
  return ends;
}

function mergeRuns<S extends Span>(
  spans: readonly S[],
  { from, middle, to }: { readonly from: number; readonly middle: number; readonly to: number },
  merged: S[],
): void {
  let [left, right] = [from, middle];
  while (left < middle || right < to) {
    const isRight = left === middle || (right < to && isBefore(spans[right] as S, spans[left] as S));
    merged.push(spans[isRight ? right++ : left++] as S);
  }
}

/** Hits in order, and how far they were taken. */
interface Queue {
  readonly hits: readonly Hit[];
  at: number;
}

/** A find under construction. */
interface Merging {
  readonly start: number;
  end: number;
  rules: readonly number[];
  /** Hit of the first rule. */
  first: Hit;
  /** Known to be among `rules`. */
  last: readonly number[];
}

/**
 * Merges overlapping hits under the first rule. A list may belong to one rule; a hit that covers a hundred thousand
 * others creates no objects for them.
 */
export function mergeHits(lists: readonly (readonly Hit[])[]): readonly Hit[] {
  const [only] = lists;
  if (only === undefined || (lists.length === 1 && only.length < 2)) return only ?? [];
  const queues = lists.map((hits): Queue => ({ hits: byStart(hits), at: 0 }));
  const merged: Hit[] = [];
  for (let hit = takeFirst(queues); hit !== undefined; hit = takeFirst(queues)) {
    const { start, end, rules } = hit;
    const found: Merging = { start, end, rules, first: hit, last: rules };
    while (queues.some((queue) => take(queue, found)));
    const isSame = found.first === hit && found.end === end && found.rules === rules;
    merged.push(isSame ? hit : { ...found.first, start, end: found.end, rules: found.rules });
  }
  return merged;
}

function takeFirst(queues: readonly Queue[]): Hit | undefined {
  let least: Queue | undefined;
  for (const queue of queues) {
    const [next, other] = [queue.hits[queue.at], least?.hits[least.at]];
    if (next !== undefined && (other === undefined || isBefore(next, other))) least = queue;
  }
  return least?.hits[least.at++];
}

/** Takes those that overlap; false where none does. */
function take(queue: Queue, found: Merging): boolean {
  const { hits, at } = queue;
  for (let next = hits[at]; next !== undefined && next.start < found.end; next = hits[++queue.at]) {
    if (next.end > found.end) found.end = next.end;
    if (next.rule < found.first.rule) found.first = next;
    if (next.rules === found.last) continue;
    found.rules = withRules(found.rules, next.rules);
    found.last = next.rules;
  }
  return queue.at > at;
}

/** The very same where no other is among them. */
const withRules = (known: readonly number[], more: readonly number[]): readonly number[] =>
  more.every((rule) => known.includes(rule)) ? known : [...new Set([...known, ...more])];
