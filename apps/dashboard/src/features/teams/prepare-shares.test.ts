import { expect, test } from 'bun:test';
import { describeRest, describeShare, prepareShares } from './prepare-shares';
import type { Shares } from './use-teams';

const share = (name: string, shareUsd: number, spentUsd: number) => ({
  ...{ project_id: name, name, share_usd: shareUsd, overdraft: true, spent_usd: spentUsd },
  drawn_usd: Math.max(0, spentUsd - shareUsd),
});
const shares = (budget: number | null, rest: number | null, more: Partial<Shares> = {}): Shares => ({
  ...{ budget_usd: budget, spent_usd: 0, rest_usd: rest, drawn_usd: 0, others_spent_usd: 0, data: [] },
  ...more,
});

test('shares and the rest fill the bar, each with what was used of it', () => {
  const all = shares(100, 50, { drawn_usd: 15, data: [share('search', 30, 40), share('chat', 20, 5)] });
  const parts = prepareShares(all).map(({ name, usedWidth, freeWidth }) => [name, usedWidth, freeWidth]);
  expect(parts).toEqual([
    ['search', 30, 0],
    ['chat', 5, 15],
    ['The rest', 15, 35],
  ]);
  expect(prepareShares(all).at(-1)?.text).toBe('The rest: $15.00 of $50.00 spent');
});

test('shares beyond the budget fill it, and leave no rest; no budget draws nothing', () => {
  const over = shares(50, -50, { data: [share('search', 80, 0), share('chat', 20, 20)] });
  expect(prepareShares(over).map(({ name, usedWidth, freeWidth }) => [name, usedWidth, freeWidth])).toEqual([
    ['search', 0, 80],
    ['chat', 20, 0],
  ]);
  expect(prepareShares(shares(null, null))).toEqual([]);
});

test('a share in words', () => {
  expect(describeShare(share('search', 5, 4))).toBe("$4.00 of its share of $5.00 in the team's budget is spent.");
  expect(describeShare(share('search', 5, 6))).toContain('$5.00 of its share of $5.00 in');
  expect(describeShare(share('search', 5, 6))).toEndWith(', and $1.00 of what no share claims.');
});

test('the rest in words', () => {
  expect(describeRest(shares(100, 50, { drawn_usd: 4 }))).toBe('$4.00 of the $50.00 that no share claims is spent.');
  expect(describeRest(shares(100, 50, { drawn_usd: 4, others_spent_usd: 1 }))).toContain(
    '$1.00 of it by projects without',
  );
  expect(describeRest(shares(50, -50))).toContain('exceed the budget by $50.00');
  expect(describeRest(shares(null, null))).toContain('Set a monthly budget');
});
