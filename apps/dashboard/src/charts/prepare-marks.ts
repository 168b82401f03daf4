import type { TimelineEvent } from '../api/timeline';

/** Mark of a chart: epoch milliseconds and a text. */
export interface ChartMark extends Pick<TimelineEvent, 'id' | 'kind' | 'text' | 'actor'> {
  readonly atMs: number;
}

export const MARK_KINDS = {
  deploy: { label: 'Deploy', color: '--c-accent' },
  incident: { label: 'Incident', color: '--c-bad' },
  note: { label: 'Note', color: '--c-muted' },
  key: { label: 'Key', color: '--c-warn' },
  limit: { label: 'Settings', color: '--c-warn' },
  routing: { label: 'Routing', color: '--c-good' },
  start: { label: 'Start', color: '--c-faint' },
} as const satisfies Record<TimelineEvent['kind'], { readonly label: string; readonly color: string }>;

export const prepareMarks = (events: readonly TimelineEvent[]): readonly ChartMark[] =>
  events.map(({ id, kind, text, actor, at }) => ({ id, kind, text, actor, atMs: Date.parse(at) }));

interface Pointed {
  readonly fromMs: number;
  /** Exclusive. */
  readonly toMs: number;
  /** Range around the pointer that selects marks; both ends inclusive. */
  readonly near?: readonly [number, number];
}

/** The marks of a bucket, and those next to the pointer. */
export function marksAt(marks: readonly ChartMark[], { fromMs, toMs, near }: Pointed): readonly ChartMark[] {
  return marks.filter(
    ({ atMs }) => (atMs >= fromMs && atMs < toMs) || (near !== undefined && atMs >= near[0] && atMs <= near[1]),
  );
}

/** Marks with their places, without those that the flag of an earlier one would cover. */
export function uncovered<T extends { readonly x: number }>(placed: readonly T[], width: number): readonly T[] {
  let last = Number.NEGATIVE_INFINITY;
  return placed
    .toSorted((a, b) => a.x - b.x)
    .filter(({ x }) => {
      if (x - last < width) return false;
      last = x;
      return true;
    });
}

/** A mark in a line. */
export const describeMark = ({ kind, text, actor }: Pick<ChartMark, 'kind' | 'text' | 'actor'>): string =>
  `${MARK_KINDS[kind].label}: ${text}${actor === null ? '' : `, by ${actor}`}`;
