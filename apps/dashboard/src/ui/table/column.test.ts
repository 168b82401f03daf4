import { expect, test } from 'bun:test';
import { type Column, drawCell, isRight, tableCsv } from './column';

interface Row {
  readonly usd: number | null;
}

const column: Column<Row> = { header: 'Spend', unit: 'usd', value: ({ usd }) => usd };

test('a number is written in its unit and stands right; a missing one is said as told', () => {
  expect(drawCell(column, { usd: 1.5 })).toBe('$1.50');
  expect(drawCell(column, { usd: null })).toBe('–');
  expect(drawCell({ ...column, none: 'none' }, { usd: null })).toBe('none');
  expect(isRight(column)).toBe(true);
  expect(drawCell({ ...column, unit: undefined }, { usd: 1.5 })).toBe(1.5);
});

test('a file holds values, not how they are drawn', () => {
  expect(tableCsv([column], [{ usd: 1.5 }, { usd: null }])).toBe('Spend\r\n1.5\r\n');
});
