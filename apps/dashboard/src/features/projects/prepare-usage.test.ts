import { expect, test } from 'bun:test';
import type { Project } from '../../api/projects';
import type { SpendBucket } from '../../api/stats';
import { prepareProjects } from './prepare-usage';
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
