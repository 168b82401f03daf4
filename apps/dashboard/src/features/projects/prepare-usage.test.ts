import { expect, test } from 'bun:test';
import type { Key, Project } from '../../api/projects';
import type { ErrorBucket, SpendBucket } from '../../api/stats';
import { prepareKeyUsage, prepareProjects } from './prepare-usage';
import { type Outlook, ownerOf } from './spending/prepare-outlooks';

test('projects beside what they spent; without a cap there is no share of it', () => {
  const project = (id: string, cap: number | null) => ({ id, monthly_cap_usd: cap }) as Project;
  const bucket = { group: 'a', cost_usd: 5, requests: 2 } as SpendBucket;
  const outlook: Outlook = { text: 'Used up', short: 'used up', tone: 'bad', day: '' };
  const lines = prepareProjects([project('a', 20), project('b', 20), project('c', null)], {
    month: [bucket],
    daysOf: (id) => (id === 'c' ? null : [1, 4]),
    outlooks: new Map([[ownerOf('b', 'b'), outlook]]),
  });
  expect(lines).toMatchObject([
    { id: 'a', spentUsd: 5, requests: 2, share: 0.25, days: [1, 4] },
    { id: 'b', spentUsd: 0, requests: 0, share: 0, outlook },
    { id: 'c', spentUsd: 0, requests: 0, share: null, days: null },
  ]);
  expect(lines[0]?.outlook).toBeUndefined();
});

test('a key: its month, its budget and what was refused, as far as it is known', () => {
  const sums = (cost_usd: number) => ({ cost_usd }) as SpendBucket;
  const key = { budget_usd: 0.01, budget_period: 'total', spent_usd: 0.0042, last_used_at: null } as Key;
  const outcomes = { requests: 1200, rate_limited: 24, cap_exceeded: 5 } as ErrorBucket;
  expect(prepareKeyUsage(key, { month: sums(4.2), today: sums(0.5), outcomes })).toEqual({
    requests: '1,200',
    refused: '24 rate limited, 5 over a cap or budget',
    spent: '$4.20, $0.50 of it today',
    budget: { text: '$0.0042 of $0.01 spent, in all', share: 0.42 },
  });
  const quiet = { requests: 0, rate_limited: 0, cap_exceeded: 0 } as ErrorBucket;
  const monthly = { ...key, budget_period: 'month' } as Key;
  expect(prepareKeyUsage(monthly, { month: sums(0), today: sums(0), outcomes: quiet })).toEqual({
    ...{ requests: '0', refused: 'none', spent: '$0.00, $0.00 of it today' },
    budget: { text: '$0.00 of $0.01 spent this month', share: 0 },
  });
  expect(prepareKeyUsage({ ...monthly, budget_usd: null }, {})).toEqual({
    ...{ requests: null, refused: null, spent: null, budget: null },
  });
});
