import { describe, expect, test } from 'bun:test';
import { formatUsd } from '../../format/format-usd';
import { type Column, columnAmounts, drawCell, isRight, sortRows, tableCsv } from './column';

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

describe('amounts of one column', () => {
  const name: Column<Row> = { header: 'Name', value: () => 'a.b' };
  const cost: Column<Row> = { ...column, unit: 'cost' };
  const drawn = (of: Column<Row>, rows: readonly Row[]) => {
    const [amounts] = columnAmounts([of, name], rows);
    return rows.map((row) => drawCell(of, row, amounts));
  };
  const padded = (text: string, ch: number) =>
    expect.objectContaining({ props: { style: { paddingRight: `${ch}ch` }, children: text } });

  test('have cents from a dollar on, and points below each other whatever the smallest is', () => {
    const rows = [{ usd: 28.2796299 }, { usd: 0.9314 }, { usd: 0 }, { usd: null }];
    expect(columnAmounts([column, name], rows)[1]).toBeUndefined();
    expect(drawn(column, rows)).toEqual(['$28.28', '$0.93', '$0.00', '–']);
    expect(drawn(column, [{ usd: 0.9314 }, { usd: 0.5 }])).toEqual(['$0.9314', '$0.5000']);
    expect(drawn(column, [{ usd: 5.0837 }, { usd: 0.0003 }])).toEqual([padded('$5.08', 3), '$0.00030']);
    expect(drawn(column, [{ usd: 0.010633947 }, { usd: 0.0000238 }])).toEqual([padded('$0.0106', 2), '$0.000024']);
    expect(drawn(column, [{ usd: 120_000 }, { usd: 5 }])).toEqual(['$120K', '$5.00']);
  });

  test('of requests are those of their panels, and set ones exact', () => {
    const rows = [{ usd: 1.25 }, { usd: 0.02199 }, { usd: 0 }];
    expect(drawn(cost, rows)).toEqual([padded('$1.25', 2), formatUsd(0.02199), padded('$0.00', 2)]);
    expect(drawn({ ...column, unit: 'price' }, rows)).toEqual([padded('$1.25', 3), '$0.02199', padded('$0.00', 3)]);
  });

  test('further down than was looked at are drawn alike', () => {
    const [amounts] = columnAmounts([column], [{ usd: 5.08 }]);
    expect(drawCell(column, { usd: 0.0003 }, amounts)).toBe('$0.00030');
    expect(drawCell(column, { usd: -0.9314 }, amounts)).toBe('−$0.93');
  });

  test('are drawn by a cell of its own as they are without one', () => {
    const spark: Column<Row> = { ...column, cell: (_row, amount) => ['bars', amount] };
    expect(drawn(spark, [{ usd: 16.3123 }, { usd: 0.9156 }])).toEqual([
      ['bars', '$16.31'],
      ['bars', '$0.92'],
    ]);
  });
});
