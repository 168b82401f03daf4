import { describe, expect, test } from 'bun:test';
import { type KeyPlace, moveByKey, selectedStretch, stretchBetween } from './prepare-zoom';

describe('dragging', () => {
  test('whole buckets, whichever way one drags; never none', () => {
    expect(stretchBetween(130, 250, 100)).toEqual({ fromMs: 100, toMs: 300 });
    expect(stretchBetween(250, 130, 100)).toEqual({ fromMs: 100, toMs: 300 });
    expect(stretchBetween(200, 300, 100)).toEqual({ fromMs: 200, toMs: 300 });
    expect(stretchBetween(200, 200, 100)).toEqual({ fromMs: 200, toMs: 300 });
  });
});

describe('keys', () => {
  const press = (place: KeyPlace, key: string, shiftKey = false) => moveByKey(place, { key, shiftKey }, 5);

  test('arrows go from bucket to bucket and stay inside; others lead nowhere', () => {
    expect(press({ index: 2, anchor: null }, 'ArrowRight')).toEqual({ index: 3, anchor: null });
    expect(press({ index: 0, anchor: null }, 'ArrowLeft')).toEqual({ index: 0, anchor: null });
    expect(press({ index: 2, anchor: null }, 'PageDown')).toEqual({ index: 4, anchor: null });
    expect(press({ index: 2, anchor: null }, 'Home')).toEqual({ index: 0, anchor: null });
    expect(press({ index: 2, anchor: null }, 'a')).toBeNull();
    expect(moveByKey({ index: 0, anchor: null }, { key: 'End', shiftKey: false }, 0)).toBeNull();
  });

  test('with Shift a selection grows from where it began, in both directions; without it ends', () => {
    const one = press({ index: 2, anchor: null }, 'ArrowLeft', true);
    expect(one).toEqual({ index: 1, anchor: 2 });
    const times = [0, 10, 20, 30, 40];
    expect(selectedStretch(times, { index: 1, anchor: 2 }, 10)).toEqual({ fromMs: 10, toMs: 30 });
    expect(selectedStretch(times, { index: 4, anchor: 2 }, 10)).toEqual({ fromMs: 20, toMs: 50 });
    expect(press({ index: 1, anchor: 2 }, 'ArrowRight')).toEqual({ index: 2, anchor: null });
  });
});
