import { expect, test } from 'bun:test';
import type { Project } from '../../api/projects';
import type { SpendBucket } from '../../api/stats';
import { prepareProjects } from './prepare-usage';

test('projects beside what they spent; without a cap there is no share of it', () => {
  const project = (id: string, cap: number | null) => ({ id, monthly_cap_usd: cap }) as Project;
  const bucket = { group: 'a', cost_usd: 5, requests: 2 } as SpendBucket;
  expect(prepareProjects([project('a', 20), project('b', 20), project('c', null)], [bucket])).toMatchObject([
    { id: 'a', spentUsd: 5, requests: 2, share: 0.25 },
    { id: 'b', spentUsd: 0, requests: 0, share: 0 },
    { id: 'c', spentUsd: 0, requests: 0, share: null },
  ]);
});
