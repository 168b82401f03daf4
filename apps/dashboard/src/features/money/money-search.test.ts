import { expect, test } from 'bun:test';
import { tidied } from '../../range/page-search';
import { readMoneySearch } from './money-search';

const read = tidied(readMoneySearch);

test('a statement keeps its month, grouping and filters', () => {
  const asked = { tab: 'statement', month: '2026-10', by: 'label.team', decimals: '4', label: 'env=prod' };
  expect(readMoneySearch(asked)).toEqual(asked as ReturnType<typeof readMoneySearch>);
  expect(readMoneySearch({ ...asked, month: '2026-13', by: 'weather' })).toEqual({
    ...{ tab: 'statement', decimals: '4', label: 'env=prod' },
  });
});

test('to explore takes the grouping, and no filter that would be silent there', () => {
  expect(readMoneySearch({ by: 'customer', month: '2026-10', model: 'gpt-4o' })).toEqual({ by: 'customer' });
  expect(readMoneySearch({ tab: 'constructor' })).toEqual({});
  expect(read({ model: 'gpt-4o', tab: 'zzz', by: 'key' })).toMatchObject({
    by: 'key',
    model: undefined,
    tab: undefined,
  });
});
