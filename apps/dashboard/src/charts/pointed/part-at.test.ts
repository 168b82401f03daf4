import { expect, test } from 'bun:test';
import { partAt } from './part-at';

test('a pointer is over the part whose share of the width it is in', () => {
  expect([partAt(-0.1, 90), partAt(0, 90), partAt(0.5, 90), partAt(0.999, 90), partAt(1, 90)]).toEqual([
    0, 0, 45, 89, 89,
  ]);
});
