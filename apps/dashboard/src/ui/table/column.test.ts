import { expect, test } from 'bun:test';
import { type Column, columnPlaces, drawCell, isRight, sortRows, tableCsv } from './column';

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

test('rows are sorted by a column, whose missing values come last either way; without one they stay', () => {
  const rows = [{ usd: 2 }, { usd: null }, { usd: 3 }, { usd: 1 }];
  const by = (desc: boolean) => sortRows(rows, [column], { header: 'Spend', desc }).map(({ usd }) => usd);
  expect([by(false), by(true)]).toEqual([
    [1, 2, 3, null],
    [3, 2, 1, null],
  ]);
  expect(sortRows(rows, [column], null)).toBe(rows);
});

test('amounts of one column have their points below each other', () => {
  const column: Column<{ usd: number | null }> = { header: 'Spend', unit: 'usd', value: ({ usd }) => usd };
  const name: Column<{ usd: number | null }> = { header: 'Name', value: () => 'a.b' };
  const rows = [{ usd: 5.08 }, { usd: 0.9314 }, { usd: 0 }, { usd: null }];
  const [places] = columnPlaces([column, name], rows);
  expect(columnPlaces([column, name], rows)).toEqual([2, 0]);
  expect(drawCell(column, { usd: 5.08 }, places)).toBe('$5.08');
  expect(drawCell(column, { usd: 0.9314 }, places)).toBe('$0.93');
  // Further down than was looked at.
  expect(drawCell(column, { usd: 0.0003 }, places)).toBe('$0.0003');
  expect(drawCell(column, { usd: -0.9314 }, places)).toBe('−$0.93');
  const small = [{ usd: 0.9314 }, { usd: 0.5 }];
  const [four] = columnPlaces([column], small);
  expect(small.map((row) => drawCell(column, row, four))).toEqual(['$0.9314', '$0.5000']);
  const mixed = [{ usd: 5.0837 }, { usd: 0.0003 }];
  const [more] = columnPlaces([column], mixed);
  expect(mixed.map((row) => drawCell(column, row, more))).toEqual(['$5.0837', '$0.0003']);
  expect(drawCell(column, { usd: 0 }, more)).toMatchObject({
    props: { style: { paddingRight: '2ch' }, children: '$0.00' },
  });
  expect(drawCell(column, { usd: null }, places)).toBe('–');
});
