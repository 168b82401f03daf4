import { describe, expect, test } from 'bun:test';
import { chooseSeries, type Shown, visibleData } from './prepare-legend';

const ALL = ['a', 'b', 'c'];
const data = { times: [], series: ALL.map((name) => ({ name })) };
const namesOf = (shown: Shown, of = data, all = ALL) => visibleData(of, shown, all).series.map(({ name }) => name);

describe('the legend', () => {
  test('a click isolates, another one isolates another, the same again shows all', () => {
    const b = chooseSeries(null, 'b', ALL, false);
    expect(namesOf(b)).toEqual(['b']);
    expect(namesOf(chooseSeries(b, 'c', ALL, false))).toEqual(['c']);
    expect(chooseSeries(b, 'b', ALL, false)).toBeNull();
    expect(namesOf(null)).toEqual(ALL);
  });

  test('with a modifier one is hidden and shown beside the others; none is all', () => {
    const withoutB = chooseSeries(null, 'b', ALL, true);
    expect(namesOf(withoutB)).toEqual(['a', 'c']);
    expect(chooseSeries(withoutB, 'b', ALL, true)).toBeNull();
    const onlyC = chooseSeries(withoutB, 'a', ALL, true);
    expect(namesOf(onlyC)).toEqual(['c']);
    expect(chooseSeries(onlyC, 'c', ALL, true)).toBeNull();
  });

  test('shows all if no chosen column is left', () => {
    const gone = new Set(['gone']);
    expect(namesOf(gone)).toEqual(ALL);
    expect(namesOf(chooseSeries(gone, 'a', ALL, true))).toEqual(['b', 'c']);
    expect(namesOf(chooseSeries(null, 'a', ['a'], false), { ...data, series: [{ name: 'a' }] }, ['a'])).toEqual(['a']);
  });

  test('series that ended count only in the previous total', () => {
    const before = { times: [], series: [{ name: 'a' }, { name: 'old' }] };
    expect(namesOf(null, before)).toEqual(['a', 'old']);
    expect(namesOf(new Set(['a']), before)).toEqual(['a']);
  });
});
