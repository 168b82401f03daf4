import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { firstLink, hasLink, moveInGrid, shadeOf } from './prepare-heat';

test('more money is darker, up to a shade that text can be read on; nothing is white', () => {
  expect([shadeOf(0, 5), shadeOf(5, 0), shadeOf(5, 5), shadeOf(9, 5), shadeOf(-1, 5)]).toEqual([0, 0, 45, 45, 0]);
  fc.assert(
    fc.property(
      fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
      fc.double({ min: 1e-9, max: 1, noNaN: true }),
      (most, share) => {
        const shade = shadeOf(most * share, most);
        expect(shade).toBeGreaterThan(0);
        expect(shade).toBeLessThanOrEqual(45);
        expect(shadeOf((most * share) / 2, most)).toBeLessThanOrEqual(shade);
      },
    ),
  );
});

const LINKS = [
  [false, false, false],
  [false, true, true],
  [true, false, true],
];

test('keys go to the nearest link in their direction and never to a cell without one', () => {
  expect(firstLink(LINKS)).toEqual({ row: 1, column: 1 });
  expect([firstLink([]), firstLink([[false]])]).toEqual([null, null]);
  const go = (row: number, column: number, key: string) => {
    const place = moveInGrid({ row, column }, key, LINKS);
    return place && [place.row, place.column];
  };
  expect([go(1, 1, 'ArrowRight'), go(1, 2, 'ArrowDown'), go(2, 2, 'ArrowLeft')]).toEqual([
    [1, 2],
    [2, 2],
    [2, 0],
  ]);
  expect([go(1, 1, 'ArrowUp'), go(1, 1, 'ArrowDown'), go(2, 0, 'ArrowUp'), go(2, 2, 'ArrowRight')]).toEqual([
    [1, 1],
    [1, 1],
    [2, 0],
    [2, 2],
  ]);
  expect([go(2, 2, 'Home'), go(2, 0, 'End'), go(1, 1, 'a'), go(1, 1, 'Enter')]).toEqual([[2, 0], [2, 2], null, null]);
  fc.assert(
    fc.property(fc.array(fc.constantFrom('ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End')), (keys) => {
      let place = { row: 1, column: 1 };
      for (const key of keys) place = moveInGrid(place, key, LINKS) ?? place;
      expect(hasLink(LINKS, place)).toBe(true);
    }),
  );
});
