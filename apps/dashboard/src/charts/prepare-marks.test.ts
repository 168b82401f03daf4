import { describe, expect, test } from 'bun:test';
import { describeMark, marksAt, prepareMarks, uncovered } from './prepare-marks';

const event = (at: string, text: string) => ({
  ...{ id: text, at, text, kind: 'deploy' as const, actor: 'ci', source: 'annotation' as const, project_id: null },
});
const marks = prepareMarks([event('1970-01-01T00:00:10Z', 'late'), event('1970-01-01T00:00:05Z', 'early')]);

describe('marks', () => {
  test('a flag covers no other one', () => {
    const placed = [30, 0, 9, 10, 19, 20].map((x) => ({ x }));
    expect(uncovered(placed, 10).map(({ x }) => x)).toEqual([0, 10, 20, 30]);
  });

  test('counts a bucket without its end', () => {
    const at = (fromMs: number, toMs: number) => marksAt(marks, { fromMs, toMs }).map(({ text }) => text);
    expect(at(5000, 10_000)).toEqual(['early']);
    expect(at(0, 5000)).toEqual([]);
    expect(at(0, 10_001)).toEqual(['late', 'early']);
  });

  test('those next to the pointer are meant, too', () => {
    const found = marksAt(marks, { fromMs: 0, toMs: 1000, near: [9000, 11_000] });
    expect(found.map(describeMark)).toEqual(['Deploy: late, by ci']);
    expect(describeMark({ kind: 'start', text: 'Gateway 1 started', actor: null })).toBe('Start: Gateway 1 started');
  });
});
