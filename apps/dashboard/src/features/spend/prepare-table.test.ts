import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { SpendCell } from '../../api/stats';
import { prepareTable, sideFilter } from './prepare-table';

const cell = (row: string, column: string, cost_usd: number, requests = 1): SpendCell => ({
  ...{ row, column, cost_usd, requests },
});
const CELLS = [
  ...[cell('small', 'acme', 1, 4), cell('large', 'acme', 5), cell('large', '', 2), cell('large', 'bolt', 3)],
  cell('(other)', 'bolt', 9),
];
const options = { across: 'customer', labelOf: (id: string) => id.toUpperCase(), range: undefined } as const;

describe('models by customer', () => {
  const { heads, rows } = prepareTable({ ...options, cells: CELLS });
  const searchOf = (row: number, column: number) => {
    const search = rows[row]?.cells[column]?.link?.search as undefined | ((kept: object) => object);
    return search?.({ range: '7d' });
  };

  test('the dearest first, no customer and the others last, then totals', () => {
    expect(heads.map(({ label }) => label)).toEqual(['BOLT', 'ACME', '(none)', 'Total']);
    expect(rows.map(({ label }) => label)).toEqual(['large', 'small', 'Others', 'Total']);
    expect(rows.map(({ cells }) => cells.map((one) => one?.text ?? null))).toEqual([
      ['$3.00', '$5.00', '$2.00', '$10.00'],
      [null, '$1.00', null, '$1.00'],
      ['$9.00', null, null, '$9.00'],
      ['$12.00', '$6.00', '$2.00', '$20.00'],
    ]);
    expect(rows[1]?.cells[1]).toMatchObject({ title: 'small, ACME: $1.00, 4 requests', isTotal: false });
  });

  test('a cell leads to exactly its requests, or nowhere', () => {
    expect(searchOf(0, 1)).toMatchObject({
      range: '7d',
      answering_model: 'large',
      customer_id: 'acme',
      sort: '-cost_usd',
    });
    expect(searchOf(2, 0)).toMatchObject({ answering_model_not: ['large', 'small'], customer_id: 'bolt' });
    expect(searchOf(0, 2)).toMatchObject({ answering_model: 'large', customer_id_not: ['bolt', 'acme'] });
    expect(searchOf(3, 3)).toMatchObject({ sort: '-cost_usd' });
    const partial = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-26T00:00:00.000Z' };
    const { link } = prepareTable({ ...options, cells: CELLS, range: partial }).rows[0]?.cells[0] ?? {};
    const search = link?.search as undefined | ((kept: object) => object);
    expect(search?.({ range: '30d' })).toMatchObject({ ...partial, range: '30d' });
  });

  test('no filter tells the others from those without a customer', () => {
    const names = ['acme', '', '(other)'];
    expect([sideFilter('customer_id', '', names), sideFilter('customer_id', '(other)', names)]).toEqual([null, null]);
    expect(sideFilter('customer_id', '(other)', ['acme', '(other)'])).toEqual({ customer_id_not: 'acme' });
    expect(sideFilter('project', '(other)', ['p', '(other)'])).toBeNull();
    expect(sideFilter('modality', 'tool', ['tool', 'image'])).toBeNull();
    expect(sideFilter('modality', 'image', ['tool', 'image'])).toEqual({ modality: 'image' });
    expect([sideFilter('customer_id', '', ['']), sideFilter('model', null, ['a'])]).toEqual([
      { customer_id_not: undefined },
      {},
    ]);
  });
});

test('any table adds up, along rows and columns', () => {
  const name = fc.constantFrom('a', 'b', 'c', '', '(other)');
  const some = fc.uniqueArray(fc.tuple(name, name, fc.integer({ min: 1, max: 1e6 })), {
    selector: ([row, column]) => `${row} ${column}`,
  });
  fc.assert(
    fc.property(some, (made) => {
      const { rows } = prepareTable({
        ...options,
        cells: made.map(([row, column, cents]) => cell(row, column, cents)),
      });
      const amounts = rows.map(({ cells }) => cells.map((one) => one?.amount ?? 0));
      const totals = amounts.at(-1) ?? [];
      for (const row of amounts) expect(row.slice(0, -1).reduce((sum, usd) => sum + usd, 0)).toBe(row.at(-1) ?? 0);
      for (const [at, total] of totals.entries()) {
        expect(amounts.slice(0, -1).reduce((sum, row) => sum + (row[at] ?? 0), 0)).toBe(total);
      }
    }),
  );
});
