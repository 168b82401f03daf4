import { describe, expect, test } from 'bun:test';
import { ghostsOf, highestLine, valueBefore } from './prepare-ghost';

const series = (name: string, values: (number | null)[]) => ({ name, label: name, color: `#${name}`, values });
const data = { times: [10, 20, 30], series: [series('a', [1, 2, 3]), series('b', [1, 1, 1])] };
const previous = { times: [0, 5, 8], series: [series('a', [5, null, 7]), series('gone', [1, 1, 1])] };

describe('the period before', () => {
  test('layers sum up, removed ones included', () => {
    expect(ghostsOf({ data, previous, kind: 'stacked' }).map(({ values }) => values)).toEqual([[6, 1, 8]]);
    expect(ghostsOf({ data, previous: { times: [], series: [] }, kind: 'stacked' })[0]?.values).toEqual([0, 0, 0]);
  });

  test('lines pair with the current line in its colour; gaps stay gaps', () => {
    const ghosts = ghostsOf({ data, previous, kind: 'line' });
    expect(ghosts.map(({ name, color, values }) => [name, color, values])).toEqual([
      ['a', '#a', [5, null, 7]],
      ['b', '#b', [null, null, null]],
    ]);
  });

  test('earlier values of few requests do not stretch the scale of lines', () => {
    expect(highestLine({ data, previous })).toBe(7);
    expect(highestLine({ data, previous: { ...previous, counts: [20, 500, 19] } })).toBe(5);
    expect(highestLine({ data, previous: { ...previous, counts: [19, 19, 19] } })).toBe(3);
    expect(highestLine({ data: { times: [], series: [] } })).toBe(0);
  });

  test('values of one bucket; where it is off there is nothing', () => {
    const at = (kind: 'line' | 'stacked') => [
      valueBefore({ data, previous, kind }, 'a', 1),
      valueBefore({ data, previous, kind }, 'a', 2),
    ];
    expect(at('line')).toEqual([null, 7]);
    expect(at('stacked')).toEqual([0, 7]);
    expect(ghostsOf({ data, kind: 'line' })).toEqual([]);
  });
});
